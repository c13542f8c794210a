/** Commands as data: parser, help, completion and docs/cli.md are made from them. */
import type { Permission } from "@sluice/access";
import type { Context } from "./context.ts";
import type { ExitCode } from "./exit-codes.ts";
import type { Given } from "./given.ts";

/** What the shell can offer for a value; asked for with `__complete`. */
export const DYNAMIC = ["profile", "batch", "job", "worker", "operation", "token", "context"] as const;
export type Dynamic = (typeof DYNAMIC)[number];

export type ValueKind = "text" | "number" | "seconds" | "time" | "url";

export interface Option {
  readonly name: string;
  readonly short?: string;
  /** Placeholder of its value; without one it is a switch. */
  readonly value?: string;
  readonly kind?: ValueKind;
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly dynamic?: Dynamic;
  /** It takes this instead of the command's own permission. */
  readonly permission?: Permission;
  readonly says: string;
}

export interface Argument {
  readonly name: string;
  readonly many?: true;
  readonly optional?: true;
  readonly choices?: readonly string[];
  readonly dynamic?: Dynamic;
  /** A file: the shell completes it itself. */
  readonly file?: true;
}

export type Needs = "admin" | "intake" | "jobs" | "nothing";
export const toAdmin = (): Needs => "admin";
export const toIntake = (): Needs => "intake";
export const toJobs = (): Needs => "jobs";
/** It works on this machine alone. */
export const toNobody = (): Needs => "nothing";

export interface Command {
  /** `["job", "list"]`, or `["top"]`. */
  readonly words: readonly [string] | readonly [string, string];
  readonly says: string;
  readonly takes?: readonly Argument[];
  readonly options?: readonly Option[];
  /** Without the leading `sluice`; a test runs each of them. Never empty. */
  readonly examples: readonly [string, ...string[]];
  /** What the caller's role must allow; none = everyone may. */
  readonly permission?: Permission;
  readonly talksTo: (given: Given) => Needs;
  readonly hidden?: true;
  readonly run: (context: Context) => Promise<ExitCode>;
}

export const nameOf = ({ words }: Pick<Command, "words">): string => words.join(" ");

export const OUTPUTS = ["table", "wide", "json", "yaml", "name"] as const;
export type OutputForm = (typeof OUTPUTS)[number];

/** Taken by every command. */
export const COMMON_OPTIONS: readonly Option[] = [
  { name: "output", short: "o", value: "FORM", choices: OUTPUTS, says: "how to show it; table if not given" },
  { name: "context", value: "NAME", dynamic: "context", says: "a context of the configuration file" },
  { name: "intake-url", value: "URL", kind: "url", says: "instead of SLUICE_INTAKE_URL" },
  { name: "admin-url", value: "URL", kind: "url", says: "instead of SLUICE_ADMIN_URL" },
  { name: "jobs-url", value: "URL", kind: "url", says: "instead of SLUICE_JOBS_URL" },
  { name: "token-file", value: "FILE", says: "a file with the token, instead of SLUICE_TOKEN" },
  { name: "times", value: "HOW", choices: ["relative", "iso"], says: "ages on a terminal, RFC 3339 elsewhere" },
  { name: "no-color", says: "no colour; so does NO_COLOR" },
  { name: "help", short: "h", says: "this" },
];
