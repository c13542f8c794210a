/** People act through any process: what makes a change theirs is that it carries a name, not whose session wrote it. */
import { bucketOf, clampPriority, type EventKind, isFinal, knownEvent } from "@sluice/queue-core";
import { newEvents } from "./history.ts";
import { only } from "./parts.ts";
import type { BatchChange, JobChange, JobView } from "./views.ts";

/** Kinds of events that people's actions leave in a job's history; the others are the stages'. */
const OPERATORS_EVENTS: ReadonlySet<EventKind> = new Set(["hold", "release", "resume", "op-fail", "delete"]);

/** In the job's history of this very transaction. */
export const namesOperator = (change: JobChange): boolean =>
  newEvents(change).some((raw) => {
    const event = knownEvent(raw);
    return event !== null && OPERATORS_EVENTS.has(event.kind);
  });

/** The audit names what was acted on: of a group of moves in one transaction it covers that one alone. */
export const isAudited = ({ after, author }: JobChange | BatchChange): boolean =>
  author.audits.has(after.id) || author.orders.some((jobs) => jobs.has(after.id));

/** A batch has no history of its own: the audit must do. */
export const operatesBatch = (change: BatchChange): boolean => change.author.role === "operator" || isAudited(change);

/** A repair: audited, of listings alone, and the job is listed where its status says afterwards, and was not before. */
export const isRepair = (change: JobChange): boolean =>
  isAudited(change) && only(change.wrote, "entry", "bucket") && isPlaced(change.after) && !isPlaced(change.before);

function isPlaced({ status, priority, batch, entries, buckets }: JobView): boolean {
  if (status === null || priority === null) return false;
  const right = entries.every((at) => at.state === status.status && at.priority === clampPriority(priority));
  const once = entries.length === 1 || (entries.length === 0 && isFinal(status.status));
  const inBucket = buckets.every((at) => at.batch === batch && at.bucket === bucketOf(status.status));
  return right && once && inBucket && buckets.length === 1;
}
