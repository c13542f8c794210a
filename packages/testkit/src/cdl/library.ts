/**
 * A program that uses CDL's Java library, for tests of a fleet beside which one runs. Its classes cannot be had as a
 * package here: these make the same calls with the same arguments in the same order.
 */
import { openRawSession, type RawSession } from "../raw-session.ts";
import { CdlBatch } from "./batch.ts";
import { CdlCalls, type OnCall } from "./calls.ts";
import { CdlJob } from "./job.ts";

export interface CdlLibrary {
  readonly session: RawSession;
  createBatch(submission: Record<string, unknown>): Promise<CdlBatch>;
  acquirePendingBatch(): Promise<CdlBatch | null>;
  createJob(
    bid: string,
    configuration: Record<string, unknown>,
    options?: Parameters<typeof CdlJob.create>[3],
  ): Promise<CdlJob>;
  acquireJob(state: string): Promise<CdlJob | null>;
  close(): Promise<void>;
}

export interface CdlLibraryOptions {
  readonly onCall?: OnCall;
  readonly timeoutMs?: number;
}

export async function cdlLibrary(connect: string, options: CdlLibraryOptions = {}): Promise<CdlLibrary> {
  const { onCall, timeoutMs } = options;
  const session = await openRawSession(connect, timeoutMs === undefined ? {} : { timeoutMs });
  const zk = new CdlCalls(session, onCall);
  return {
    session,
    createBatch: (submission) => CdlBatch.create(zk, submission),
    acquirePendingBatch: () => CdlBatch.acquirePending(zk),
    createJob: (bid, configuration, more) => CdlJob.create(zk, bid, configuration, more),
    acquireJob: (state) => CdlJob.acquire(zk, state),
    close: () => session.close(),
  };
}

/** What the stage does with a job; throwing fails the job with that message. */
export type CdlWork = (job: CdlJob) => Promise<void> | void;

/** One turn of a consumer of theirs: takes a job, works it, moves it, lets go. False: there was none. */
export async function consumeOne(library: CdlLibrary, state: string, work: CdlWork): Promise<boolean> {
  const job = await library.acquireJob(state);
  if (job === null) return false;
  try {
    // The queue was listed a while ago: another one may have worked it meanwhile.
    if (job.status !== state) return true;
    const problem = await problemOf(work, job);
    if (problem === null) await job.setStatus(job.success());
    else await job.setStatus("Failed", problem);
  } finally {
    await job.unlock();
  }
  return true;
}

async function problemOf(work: CdlWork, job: CdlJob): Promise<string | null> {
  try {
    await work(job);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
