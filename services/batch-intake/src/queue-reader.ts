/** The queue as those see it who only look: over whatever session the process has just now, or none. */
import {
  type BatchId,
  type BatchQuery,
  type BatchSummary,
  type BatchUuid,
  type BatchView,
  findBatch,
  findJobId,
  type JobId,
  type JobQuery,
  type JobUuid,
  type JobView,
  listBatches,
  listJobs,
  type Page,
  type QueueContext,
  readBatch,
  readJob,
  readProgress,
  readSigns,
  type Signs,
  type Viewed,
  type WorkerProgress,
} from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";

/** null = no answer. */
export interface QueueReader {
  batchOf(uuid: BatchUuid): Promise<Viewed<BatchId>>;
  readBatch(id: BatchId): Promise<Viewed<BatchView>>;
  /** The number under which a job of this name would be; null: there is none, or no answer. */
  jobOf(uuid: JobUuid): Promise<JobId | null>;
  readJob(id: JobId): Promise<Viewed<JobView>>;
  progressOf(job: JobView): Promise<WorkerProgress | null>;
  listBatches(query: BatchQuery): Promise<Page<BatchSummary, BatchId> | null>;
  listJobs(batch: BatchId, query: JobQuery): Promise<Page<JobView, JobId> | null>;
  readSigns(things: readonly (readonly string[])[]): Promise<readonly Signs[] | null>;
}

/** `current` answers with the queue of the present session; null while there is none. */
export function makeQueueReader(current: () => QueueContext | null): QueueReader {
  const over = async <T>(look: (session: Session) => Promise<T>, silence: T): Promise<T> => {
    const session = current()?.session;
    return session?.state === "connected" ? look(session) : silence;
  };
  const viewed = <T>(look: (session: Session) => Promise<Viewed<T>>): Promise<Viewed<T>> =>
    over<Viewed<T>>(look, { kind: "silence" });
  return {
    batchOf: (uuid) =>
      viewed(async (session) => {
        const id = await findBatch({ session }, uuid);
        if (id !== null) return { kind: "found", value: id };
        return session.state === "connected" ? { kind: "none" } : { kind: "silence" };
      }),
    readBatch: (id) => viewed((session) => readBatch(session, id)),
    jobOf: (uuid) => over((session) => findJobId(session, uuid), null),
    readJob: (id) => viewed((session) => readJob(session, id)),
    progressOf: (job) => over((session) => readProgress(session, job), null),
    listBatches: (query) => over((session) => listBatches(session, query), null),
    listJobs: (batch, query) => over((session) => listJobs(session, batch, query), null),
    readSigns: (things) => over((session) => readSigns(session, things), null),
  };
}
