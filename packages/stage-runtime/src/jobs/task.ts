/** One job in our hands: what the handler is given, and what must be let go when it is settled. */
import {
  acquireObjectLocks,
  type CommitResult,
  type JobChanges,
  type JobStore,
  type LoadedJob,
  type ObjectLocks,
  paths,
  releaseObjectLocks,
} from "@sluice/queue-core";
import type { ActiveSpan } from "@sluice/tracing";
import type { JobContext, ObjectLockName } from "../duty.ts";
import type { Scope } from "../engine/scope.ts";
import type { Log } from "../log.ts";

export class JobTask {
  readonly #scope: Scope;
  readonly #store: JobStore;
  readonly #locks: ObjectLocks[] = [];
  readonly startedMs: number;
  readonly log: Log;
  readonly span: ActiveSpan;
  #loaded: LoadedJob;
  /** One write at a time: each needs the versions that the one before left. */
  #lastWrite: Promise<unknown> = Promise.resolve();
  #settling = false;
  /** How it left our hands has been told. */
  concluded = false;

  constructor(scope: Scope, store: JobStore, loaded: LoadedJob, span: ActiveSpan) {
    this.#scope = scope;
    this.#store = store;
    this.#loaded = loaded;
    this.span = span;
    this.startedMs = scope.queue.clock.monotonicMs();
    const { id, batchId, attempt } = loaded.job;
    this.log = scope.log.child({ job_id: id, batch_id: batchId, attempt });
  }

  get loaded(): LoadedJob {
    return this.#loaded;
  }

  /** True for the first who asks: a job that was handed back at the shutdown is not settled again by its handler. */
  beginSettling(): boolean {
    const first = !this.#settling;
    this.#settling = true;
    return first;
  }

  context(): JobContext {
    const { aborting, queue, failpoint, inHand } = this.#scope;
    return {
      signal: aborting,
      clock: queue.clock,
      log: this.log,
      failpoint,
      claimId: this.#loaded.lease.claim,
      record: (changes) => this.#record(changes),
      lockObjects: (names) => this.#lockObjects(names),
      progress: (progress) => inHand.show(this.#loaded.job.id, progress),
    };
  }

  /** Nothing of the handler's is still being written. */
  async quiet(): Promise<void> {
    await this.#lastWrite;
  }

  async releaseLocks(): Promise<void> {
    await Promise.all(this.#locks.splice(0).map((locks) => releaseObjectLocks(this.#scope.queue, locks)));
  }

  #record(changes: JobChanges): Promise<boolean> {
    const mine = this.#lastWrite.then(() => this.#write(changes));
    this.#lastWrite = mine.catch(() => undefined);
    return mine;
  }

  async #write(changes: JobChanges): Promise<boolean> {
    if (this.#settling) return false;
    const { result, loaded } = await this.#store.write(this.#loaded, changes);
    this.#loaded = loaded;
    return stillOurs(result, this.log);
  }

  async #lockObjects(names: readonly ObjectLockName[]): Promise<boolean> {
    const held = new Set(this.#locks.flatMap((locks) => locks.paths));
    const wanted = names.map(lockPath).filter((path) => !held.has(path));
    if (wanted.length === 0) return true;
    const result = await acquireObjectLocks(this.#scope.queue, this.#scope.actor, wanted);
    if (result.kind === "acquired") this.#locks.push(result.locks);
    if (result.kind === "busy") this.log.info({ lock: result.path }, "an object of this job is being worked on");
    if (result.kind === "refused") throw new Error(`an object cannot be locked: ${result.detail}`);
    return result.kind === "acquired";
  }
}

function stillOurs(result: CommitResult, log: Log): boolean {
  if (result.kind === "refused") throw new Error(`a finding could not be written: ${result.detail}`);
  if (result.kind !== "applied") log.warn({ result: result.kind }, "the job is no longer ours");
  return result.kind === "applied";
}

function lockPath(name: ObjectLockName): string {
  switch (name.kind) {
    case "storage":
      return paths.storageLock(name.ark);
    case "inventory":
      return paths.inventoryLock(name.ark);
    case "localid":
      return paths.localIdLock(name.localId, name.ownerArk);
  }
}
