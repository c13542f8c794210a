/** What a command works with. */
import type { Client } from "@sluice/client";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import type { Given } from "./given.ts";
import type { Io } from "./io.ts";
import type { Printer } from "./output/printer.ts";
import { type NotOk, tell } from "./output/problem.ts";
import type { Place } from "./settings/place.ts";

export interface Context {
  readonly io: Io;
  readonly command: string;
  readonly args: readonly string[];
  readonly given: Given;
  readonly printer: Printer;
  /** Only of commands that talk to it. */
  readonly admin: Client;
  readonly intake: Client;
  /** The general job queue. */
  readonly jobs: Client;
  /** Where they are, and how they were found. */
  readonly where: Place;
}

/** The answer that was not one, told on stderr. */
export function refuse({ io, command, where }: Context, answer: NotOk): ExitCode {
  const { lines, code } = tell(answer, command, where.source);
  io.stderr.write(`${lines.join("\n")}\n`);
  return io.interrupted.aborted ? EXIT.interrupted : code;
}

/** Something to be mended in the command line, or before it is repeated. */
export function stop(
  { io, command }: Pick<Context, "io" | "command">,
  code: ExitCode,
  why: string,
  next?: string,
): ExitCode {
  io.stderr.write(`sluice ${command}: ${why}\n${next === undefined ? "" : `  Next: ${next}\n`}`);
  return code;
}
