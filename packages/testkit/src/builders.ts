/** Workers, batches and jobs for tests, made the way the product makes them: through queue-core, on a real ZooKeeper. */
import {
  type Actor,
  type BatchId,
  type BatchStore,
  batchUuidFromRandom,
  createBatch,
  type FleetIdentity,
  initTree,
  jobFolder,
  type JobChanges,
  type JobId,
  type JobSpec,
  jobRow,
  type JobState,
  type JobStore,
  type LoadedJob,
  listBucket,
  load,
  makeBatchStore,
  makeExpander,
  makeIdBlocks,
  makeJobStore,
  makeSkeleton,
  paths,
  peek,
  PIPELINE,
  type QueueContext,
  type QueueEntry,
  records,
  sortEntries,
  type Submission,
} from "@sluice/queue-core";
import {
  type Access,
  connectSession,
  ensureChroot,
  makeCommitter,
  OPEN_ACCESS,
  type Session,
  systemClock,
} from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";

/** One process of the fleet, as far as the tree can tell: a session, a committer, a registration. */
export interface TestWorker {
  readonly ctx: QueueContext;
  readonly actor: Actor;
  readonly jobs: JobStore;
  readonly batches: BatchStore;
  readonly identity: FleetIdentity;
  readonly session: Session;
  close(): Promise<void>;
}

/** The tree of a new fleet, as `sluice init` makes it: services open it, and never make one. */
export async function makeTree(connect: string, access: Access = OPEN_ACCESS): Promise<FleetIdentity> {
  const options = { connect, timeoutMs: 30_000, access };
  const rootless = await ensureChroot(options);
  if (rootless !== null) throw new Error(rootless);
  const session = await connectSession(options);
  try {
    const made = await initTree({ session, committer: makeCommitter(session), clock: systemClock, newId });
    if (!made.ok) throw new Error(made.problem);
    return made.identity;
  } finally {
    await session.close();
  }
}

export const newId = (): string => randomBytes(9).toString("base64url");

export interface WorkerOptions {
  readonly timeoutMs?: number;
  readonly name?: string;
  /** How it gets in; default: as nobody. */
  readonly access?: Access;
  /** Operators and tools are registered nowhere. */
  readonly register?: boolean;
}

/** `stage` is the role that the invariant checker holds this session to. */
export async function testWorker(connect: string, stage: string, options: WorkerOptions = {}): Promise<TestWorker> {
  const session = await connectSession({
    connect,
    timeoutMs: options.timeoutMs ?? 30_000,
    access: options.access ?? OPEN_ACCESS,
  });
  const ctx: QueueContext = { session, committer: makeCommitter(session), clock: systemClock, newId };
  // The skeleton alone: tests also put workers beside trees that `sluice init` would refuse.
  const made = await makeSkeleton(ctx);
  if (!made.ok) throw new Error(made.problem);
  const actor: Actor = { stage, worker: options.name ?? `${stage}-${newId()}` };
  if (options.register !== false) await registerWorker(ctx, actor);
  return {
    ctx,
    actor,
    jobs: makeJobStore(ctx, actor),
    batches: makeBatchStore(ctx, actor),
    identity: made.identity,
    session,
    close: () => session.close(),
  };
}

/** Registration gives a session its role. */
export async function registerWorker(ctx: QueueContext, actor: Actor): Promise<void> {
  const record = {
    host: "test",
    pid: process.pid,
    version: "test",
    since: "",
    jobs: [],
    concurrency: 1,
    cpu_seconds: 0,
    memory_bytes: 0,
    draining: false,
  };
  const made = await ctx.committer.submit({
    rank: "operator",
    ops: [
      {
        op: "create",
        path: paths.worker(actor.stage, actor.worker),
        data: records.worker.encode(record),
        ephemeral: true,
      },
    ],
  });
  if (!made.ok) throw new Error(`cannot register ${actor.worker}: ${made.code} ${made.detail}`);
}

export const aSubmission = (patch: Partial<Submission> = {}): Submission =>
  ({
    profile_name: "sluice_demo_content",
    submitter: "tester",
    payload_url: "http://127.0.0.1:9/payload",
    type: "single-file-batch-manifest",
    submission_mode: "add",
    ...patch,
  }) as Submission;

export const aJobSpec = (patch: Partial<JobSpec> = {}): JobSpec => ({
  priority: 5,
  configuration: {
    profile_name: "sluice_demo_content",
    submitter: "tester",
    payload_url: "http://127.0.0.1:9/payload",
    payload_type: "file",
    submission_mode: "add",
  } as JobSpec["configuration"],
  identifiers: null,
  metadata: null,
  ...patch,
});

/** A Pending batch. `worker` must be a batch-intake or an API. */
export async function aBatch(worker: TestWorker, submission: Submission = aSubmission()): Promise<BatchId> {
  const uuid = batchUuidFromRandom(randomBytes(16));
  const made = await createBatch(worker.ctx, makeIdBlocks(worker.ctx), {
    uuid,
    submission,
    epoch: worker.identity.epoch,
  });
  if (made.kind !== "created") throw new Error(`no batch: ${JSON.stringify(made)}`);
  return made.id;
}

export interface ABatchOfJobs {
  readonly batch: BatchId;
  readonly jobs: readonly JobId[];
}

/** A Processing batch, fully expanded into Pending jobs. `worker` must be a batch-intake. */
export async function aBatchOfJobs(
  worker: TestWorker,
  specs: readonly JobSpec[] | number,
  submission?: Submission,
): Promise<ABatchOfJobs> {
  const list = typeof specs === "number" ? Array.from({ length: specs }, () => aJobSpec()) : specs;
  const batch = await aBatch(worker, submission);
  const pending = await worker.batches.claim("Pending", batch);
  if (pending.kind !== "acquired") throw new Error(`batch not claimed: ${JSON.stringify(pending)}`);
  const started = await worker.batches.settle(pending.loaded, { kind: "start", rows: list.length, digest: "" });
  if (started.kind !== "applied") throw new Error(`batch not started: ${JSON.stringify(started)}`);
  const processing = await worker.batches.claim("Processing", batch);
  if (processing.kind !== "acquired") throw new Error(`batch not claimed: ${JSON.stringify(processing)}`);
  const expander = makeExpander(worker.ctx, worker.actor, makeIdBlocks(worker.ctx), {
    identity: worker.identity,
    workingDir: (job) => `queue/${jobFolder(job)}`,
  });
  let loaded = processing.loaded;
  for (let i = 0; i < list.length; i += 25) {
    const added = await expander.addJobs(loaded, list.slice(i, i + 25));
    if (added.kind !== "added") throw new Error(`no jobs: ${JSON.stringify(added)}`);
    loaded = added.loaded;
  }
  await worker.batches.settle(loaded, { kind: "release" });
  const jobs = await listBucket(worker.session, batch, "batch-processing");
  return { batch, jobs: jobs ?? [] };
}

/** The job as a worker of its stage sees it before claiming it. */
export async function readyEntry(worker: TestWorker, state: JobState, id: JobId): Promise<QueueEntry> {
  const names = await worker.session.children(paths.queue(state));
  const entry = names.ok ? sortEntries(names.value.names).find((e) => e.id === id) : undefined;
  if (entry === undefined) throw new Error(`${id} is not in ${state}`);
  return entry;
}

/** Claims one job and loads it, or says why that did not work. */
export async function claimJob(worker: TestWorker, state: JobState, id: JobId): Promise<LoadedJob> {
  const seen = await peek(worker.session, state, [await readyEntry(worker, state, id)]);
  const candidate = seen.ok ? seen.value[0] : undefined;
  if (candidate?.kind !== "ready") throw new Error(`${id} is not ready: ${JSON.stringify(candidate)}`);
  const claim = await worker.jobs.claim(candidate);
  if (claim.kind !== "acquired") throw new Error(`${id} was not claimed: ${claim.kind}`);
  const loaded = await load(worker.session, [claim.lease], worker.identity);
  const job = loaded.ok ? loaded.value[0] : undefined;
  if (job?.ok !== true) throw new Error(`${id} could not be loaded`);
  return job.value;
}

/**
 * Works a job through its stages until it is in `state`, each stage by its own registered worker. `changes`: what the
 * last of them finds out.
 */
export async function advance(connect: string, id: JobId, to: JobState, changes: JobChanges = {}): Promise<void> {
  for (const [at, state] of PIPELINE.entries()) {
    if (state === to) return;
    const found = PIPELINE[at + 1] === to ? changes : {};
    const worker = await testWorker(connect, stageOf(state));
    const loaded = await claimJob(worker, state, id);
    const result = await worker.jobs.commit(loaded, { kind: "done", changes: found });
    await worker.close();
    if (result.kind !== "applied") throw new Error(`${id} did not leave ${state}: ${result.kind}`);
  }
}

const stageOf = (state: JobState): string => jobRow(state).owner ?? "operator";
