/** People act through any process: what makes a change theirs is that it carries a name, not whose session wrote it. */
import { type EventKind, records } from "@sluice/queue-core";
import type { BatchChange, JobChange } from "./views.ts";

/** Kinds of events that people's actions leave in a job's history; the others are the stages'. */
const OPERATORS_EVENTS: ReadonlySet<EventKind> = new Set(["hold", "release", "resume", "op-fail", "delete"]);

/** In the job's history of this very transaction. The audit alone does not tell which of a group of moves it is about. */
export function namesOperator({ before, after }: JobChange): boolean {
  if (after.history === null || before.history?.equals(after.history) === true) return false;
  const known = new Set(eventsOf(before.history).map(([op]) => op));
  return eventsOf(after.history).some(([op, , kind]) => !known.has(op) && OPERATORS_EVENTS.has(kind));
}

function eventsOf(bytes: Buffer | null) {
  const decoded = bytes === null ? null : records.fleetJob.decode(bytes);
  return decoded?.ok === true ? decoded.value.events : [];
}

/** A batch has no history of its own: the audit must do. */
export const operatesBatch = ({ author }: BatchChange): boolean => author.role === "operator" || author.audited;
