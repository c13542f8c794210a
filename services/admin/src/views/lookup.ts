/** Jobs and batches by either id, as far as the caller may see them. */
import { inScope, type Scope } from "@sluice/access";
import {
  type BatchId,
  type BatchView,
  findBatch,
  findJobId,
  type JobView,
  parseBatchId,
  parseBatchUuid,
  parseJobId,
  parseJobUuid,
  readBatch,
  readJob,
  type Viewed,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";

const NONE = { kind: "none" } as const;

/** A UUID says where the job is, but not every job that is there is the one: the queue may have begun anew. */
export async function lookUpJob({ context }: OpenQueue, raw: string, scope: Scope): Promise<Viewed<JobView>> {
  const uuid = parseJobUuid(raw);
  const id = uuid === null ? parseJobId(raw) : await findJobId(context.session, uuid);
  const view = id === null ? NONE : await readJob(context.session, id);
  if (view.kind !== "found") return view;
  const { configuration } = view.value;
  const isOther = uuid !== null && (configuration.jobID ?? uuid) !== uuid;
  return isOther || !inScope(scope, configuration.profile_name) ? NONE : view;
}

export async function lookUpBatch(open: OpenQueue, raw: string, scope: Scope): Promise<Viewed<BatchView>> {
  const id = await batchIdOf(open, raw);
  const view = id === null ? NONE : await readBatch(open.context.session, id);
  if (view.kind !== "found") return view;
  return inScope(scope, view.value.submission.profile_name) ? view : NONE;
}

export async function batchIdOf({ context }: OpenQueue, raw: string): Promise<BatchId | null> {
  const uuid = parseBatchUuid(raw);
  return uuid === null ? parseBatchId(raw) : await findBatch(context, uuid);
}
