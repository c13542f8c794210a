/** What has happened to a job, and where it is: the fleet's own node beside it. */
import { z } from "zod";
import { type JobState, readJobState } from "../states.ts";
import { text } from "./record-type.ts";

/** What an event in a job's short history was. */
export const EVENT_KINDS = [
  "create",
  /** Claimed after its worker was lost with it in hand. */
  "takeover",
  "done",
  "park",
  "fail",
  "retry",
  "snooze",
  "handback",
  "quarantine",
  "hold",
  "release",
  "resume",
  "op-fail",
  "delete",
  /** Made by another library beside this fleet: its history begins when we first meet it. */
  "adopt",
  /** Moved by a stage beside this fleet, which writes no history: noted when we next meet the job. */
  "beside",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * [op, unix seconds, kind, state it was in, by whom, detail?, seconds since the claim?, state it came to?]: twelve fit into
 * 1 KB. The last is there only where the kind does not tell it. Kinds and states of a newer version are kept as they are:
 * `knownEvent` tells what this one understands.
 */
export const JobEventSchema = z.tuple([text, z.number().int(), text, text, text]).rest(text);
export type JobEvent = z.infer<typeof JobEventSchema>;

export interface KnownEvent {
  readonly op: string;
  readonly atSeconds: number;
  readonly kind: EventKind;
  readonly state: JobState;
  readonly by: string;
  readonly detail: string | undefined;
  readonly seconds: string | undefined;
  /** Of a resume, and of a move beside us. */
  readonly to: JobState | null;
}

/** null for an event that only a newer version understands. */
export function knownEvent([op, atSeconds, word, rawState, by, detail, took, rawTo]: JobEvent): KnownEvent | null {
  const kind = EVENT_KINDS.find((known) => known === word);
  const state = readJobState(rawState);
  if (kind === undefined || state === null) return null;
  const [seconds, to] = [took === "" ? undefined : took, rawTo === undefined ? null : readJobState(rawTo)];
  return { op, atSeconds, kind, state, by, detail, seconds, to };
}

/** Loose, like all that is rewritten from what was read: an old and a new version work on one tree (docs/upgrading.md). */
export const FleetJobSchema = z.looseObject({
  /** Claims of the present stage; a snooze and a hand-back take theirs back. */
  attempts: z.number().int().min(0),
  /** Not to be claimed before this many ms have passed since the node's mtime, by the server's clock. */
  not_before: z.number().int().min(0).optional(),
  /** Why it waits, for people. */
  why: text.optional(),
  /** The token of the claim whose files count. */
  files: z.number().int().min(0).optional(),
  /** The epoch of that claim; absent: the first one. */
  files_epoch: z.number().int().min(1).optional(),
  /** The token of the last claim, whatever became of it: the next attempt's trace links to that one's. */
  token: z.number().int().min(0).optional(),
  /** [unix seconds, worker] of the claim under way; left behind by a worker that died with the job in hand. */
  claimed: z.tuple([z.number().int(), text]).optional(),
  /** [unix seconds, what became of it, detail]: the callback about the failure that the job stands at. */
  called: z.tuple([z.number().int(), text]).rest(text).optional(),
  events: z.array(JobEventSchema),
});
export type FleetJob = z.infer<typeof FleetJobSchema>;
