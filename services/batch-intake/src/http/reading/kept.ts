/** Submissions that the intake answered for and that are not in the queue: they wait for it, or can never come to it. */
import { batchId, type BatchUuid, parseBatchUuid, records, type Submission } from "@sluice/queue-core";
import { type BatchRefusal, FROM_QUEUE, rfc3339, showBatch, type SubmittedBatch } from "@sluice/wire";
import type { Backlog } from "../../journal/backlog.ts";
import type { Refusal } from "../../journal/refused.ts";
import type { QueueReader } from "../../queue-reader.ts";

export interface KeptParts {
  readonly backlog: Pick<Backlog, "find" | "refusals">;
  readonly reader: Pick<QueueReader, "batchOf">;
}

/** null: the intake keeps nothing of that name, or the queue has it by now. */
export async function findKept({ backlog, reader }: KeptParts, raw: string): Promise<SubmittedBatch | null> {
  const uuid = parseBatchUuid(raw);
  if (uuid === null) return null;
  const waiting = await backlog.find(uuid);
  if (waiting !== null) return shown(uuid, "Accepted", waiting, "it is in the journal and waits for the queue");
  const last = backlog.refusals(uuid).at(-1);
  const submission = last === undefined ? null : submissionOf(last);
  if (last === undefined || submission === null) return null;
  // Under the same id something else may have come to the queue.
  return (await reader.batchOf(uuid)).kind === "found" ? null : shown(uuid, "Refused", submission, last.why);
}

const NOTHING_YET = {
  // A batch without a number is shown without one.
  id: batchId(0),
  expansion: null,
  report: null,
  counts: { "batch-processing": 0, "batch-failed": 0, "batch-completed": 0, "batch-deleted": 0 },
} as const;

function shown(
  uuid: BatchUuid,
  status: "Accepted" | "Refused",
  submission: Submission,
  message: string,
): SubmittedBatch {
  const pending = { status: "Pending", last_modified: String(submission["submission_date"]), message } as const;
  const batch = showBatch(
    { ...NOTHING_YET, status: pending, submission: { ...submission, batchID: uuid } },
    FROM_QUEUE,
  );
  return { ...batch, bid: null, status };
}

/** It was written by this service, perhaps by another version of it: read with the care of a node. */
export function submissionOf({ submission }: Refusal): Submission | null {
  const read = submission === null ? null : records.submission.decode(Buffer.from(JSON.stringify(submission)));
  return read?.ok === true ? read.value : null;
}

export const showRefusal = ({ uuid, why, refused_at: at }: Refusal): BatchRefusal => ({
  id: uuid ?? "",
  why,
  refused_at: rfc3339(at) ?? at,
});
