/** What peers say to each other once they trust each other. */
import {
  type Command,
  type GetJobs,
  type NameMatch,
  parseNames,
  type Reply,
  type TenantUsage,
  type WaitingType,
} from "@sluice/job-queue";
import { z } from "zod";

const whole = z.number().int().min(0);
const ofTerm = { shard: whole, term: whole };
/** Peers run the same program and have proved it: of a command only the outline is looked at. */
const commandLike = z.looseObject({ verb: z.string() });
const request = { n: whole, ...ofTerm, command: commandLike };

/**
 * `seen`: the answers to all before this number have arrived. `got`: so have these, though one before them is still open: a
 * caller that waits for an hour must not keep every later answer in the owner's memory.
 */
const arrived = { seen: whole, got: z.array(whole).optional() };

export const ClientFrameSchema = z.discriminatedUnion("t", [
  z.object({ t: z.literal("ask"), ...arrived, ...request }),
  z.object({ t: z.literal("wait"), ...arrived, ms: z.number().min(0), ...request }),
  z.object({ t: z.literal("cancel"), n: whole }),
  z.object({ t: z.literal("hand-over"), ...ofTerm }),
  z.object({ t: z.literal("ping"), ...arrived }),
]);
export type ClientFrame = z.infer<typeof ClientFrameSchema>;

const WaitingTypeSchema = z.object({
  tenant: z.string(),
  name: z.string(),
  count: whole,
  priority: z.number(),
  since: z.number(),
});

const ms = z.number().min(0);
const TenantUsageSchema = z.object({
  tenant: z.string(),
  started: whole,
  running: whole,
  endedMs: ms,
  runningMs: ms,
  meanMs: ms,
});

export const ServerFrameSchema = z.discriminatedUnion("t", [
  z.object({ t: z.literal("reply"), n: whole, reply: z.looseObject({}) }),
  z.object({ t: z.literal("unknown"), n: whole }),
  /** Surely not done. */
  z.object({ t: z.literal("no"), n: whole, why: z.string() }),
  /** `usage`: of the tenants of these types; an older peer does not tell it. */
  z.object({
    t: z.literal("types"),
    ...ofTerm,
    types: z.array(WaitingTypeSchema),
    usage: z.array(TenantUsageSchema).optional(),
  }),
  z.object({ t: z.literal("pong") }),
  /** What has no answer by now is not done, and will not be. */
  z.object({ t: z.literal("bye") }),
]);

export interface TypesFrame {
  readonly t: "types";
  readonly shard: number;
  readonly term: number;
  readonly types: readonly WaitingType[];
  readonly usage?: readonly TenantUsage[] | undefined;
}

export type ServerFrame =
  | TypesFrame
  | { readonly t: "reply"; readonly n: number; readonly reply: Reply }
  | { readonly t: "unknown"; readonly n: number }
  | { readonly t: "no"; readonly n: number; readonly why: string }
  | { readonly t: "pong" | "bye" };

type Plain = Readonly<Record<string, unknown>>;

/** Names as data: a set as a list, a pattern as its text. */
export function plainCommand(command: Command): Plain {
  if (!isGetJobs(command)) return { ...command };
  return { ...command, wanted: { ...command.wanted, names: plainNames(command.wanted.names) } };
}

const plainNames = (match: NameMatch): readonly string[] | string =>
  match.kind === "names" ? [...match.names] : match.pattern;

/** Null: it has no such outline. */
export function readCommandFrame(plain: z.infer<typeof commandLike>): Command | null {
  const command = plain as unknown as Command;
  if (!isGetJobs(command)) return command;
  const names = readNames(command.wanted.names);
  return names === null ? null : { ...command, wanted: { ...command.wanted, names } };
}

function readNames(plain: unknown): NameMatch | null {
  if (typeof plain === "string") return parseNames(plain);
  if (!Array.isArray(plain)) return null;
  return { kind: "names", names: new Set(plain.filter((each) => typeof each === "string")) };
}

export const isGetJobs = (command: Command): command is GetJobs => command.verb === "GetJobs";
