/** Batches and jobs as something to look at and to listen to, by either id. */
import { problem, type Problem } from "@sluice/http-api";
import { type BatchState, isEnded, signsOfBatch, signsOfJob, workerOf } from "@sluice/queue-core";
import { batchOfArchive, fromArchive, FROM_QUEUE, jobOfArchive, showBatch, showJob } from "@sluice/wire";
import type { Look, Subject } from "./live.ts";
import { findBatch, findJob, type LookupParts } from "./lookup.ts";
import { findKept } from "./kept.ts";

/** Its own last word; what an operator does after it is a new story. */
const BATCH_ENDS: readonly BatchState[] = ["Completed", "Failed", "Deleted"];

/** What the archive has does not change. */
const ARCHIVED = "archived";

const UNREADABLE = problem("INTERNAL_ERROR", "what the archive has of it cannot be read");
const trouble = (found: Problem): Look => ({ kind: "problem", problem: found });

export async function lookAtBatch(parts: LookupParts, id: string): Promise<Look> {
  const kept = await findKept(parts, id);
  if (kept !== null)
    return { kind: "seen", view: kept, ended: kept.status === "Refused", signs: [], id: kept.status.toLowerCase() };
  const found = await findBatch(parts, id);
  if (found.kind === "problem") return found;
  if (found.kind === "queue") {
    const { value } = found;
    const ended = BATCH_ENDS.includes(value.status.status);
    return { kind: "seen", view: showBatch(value, FROM_QUEUE), ended, signs: signsOfBatch(value.id) };
  }
  const batch = batchOfArchive(found.value);
  if (batch === null) return trouble(UNREADABLE);
  const view = showBatch(batch, fromArchive(found.value.archivedAt));
  return { kind: "seen", view, ended: true, signs: [], id: ARCHIVED };
}

export async function lookAtJob(parts: LookupParts, id: string): Promise<Look> {
  const found = await findJob(parts, id);
  if (found.kind === "problem") return found;
  if (found.kind === "queue") {
    const { value } = found;
    const view = showJob(value, await parts.reader.progressOf(value), FROM_QUEUE, "depositor");
    const signs = signsOfJob(value.id, workerOf(value));
    return { kind: "seen", view, ended: isEnded(value.status.status), signs };
  }
  const job = jobOfArchive(found.value);
  if (job === null) return trouble(UNREADABLE);
  return {
    kind: "seen",
    view: showJob(job, null, fromArchive(null), "depositor"),
    ended: true,
    signs: [],
    id: ARCHIVED,
  };
}

type LookAt = (parts: LookupParts, id: string) => Promise<Look>;

/** By its first look: only then is it known what to watch. */
export const subjectOf = (parts: LookupParts, lookAt: LookAt, kind: string, id: string): Subject => ({
  key: `${kind} ${id}`,
  look: () => lookAt(parts, id),
});
