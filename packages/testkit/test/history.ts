/** Makes histories of the queue by hand, step by step, so that any step can be made wrongly. */
import {
  type BatchId,
  batchId,
  batchUuidFromKey,
  type BatchState,
  bucketOf,
  BUCKETS,
  DIRECTORIES,
  type EventKind,
  type FleetJob,
  type JobId,
  jobId,
  jobRow,
  type JobState,
  type JobStatus,
  paths,
  records,
  type Stage,
  type StatusReport,
} from "@sluice/queue-core";
import {
  checkInvariants,
  openRawSession,
  testZooKeeper,
  type RawSession,
  type TestZooKeeper,
  type Violation,
} from "@sluice/testkit";
import type { Op } from "@sluice/zookeeper";
import { randomUUID } from "node:crypto";
import { AT, AT_SECONDS, batchStatus, EMPTY, event, jobStatus, PROFILE } from "./words.ts";

export type Author = Stage | "operator";

export const create = (path: string, data: Buffer = EMPTY): Op => ({ op: "create", path, data });
export const set = (path: string, data: Buffer, version: number): Op => ({ op: "set", path, data, version });
export const remove = (path: string, version = 0): Op => ({ op: "delete", path, version });
/** The one thing our client does not allow. */
export const ANY_VERSION = -1;

export interface MoveOptions {
  readonly kind?: EventKind;
  readonly last?: JobState | null;
  readonly retry?: number;
  /** Of an operator's move: there is no lock to give up. */
  readonly keepLock?: boolean;
}

export class History {
  private readonly sessions = new Map<Author, RawSession>();
  private readonly zooKeeper: TestZooKeeper;
  private readonly retired: RawSession[] = [];
  private made = 0;
  lastZxid = 0n;

  private constructor(zooKeeper: TestZooKeeper) {
    this.zooKeeper = zooKeeper;
  }

  static async start(): Promise<History> {
    const history = new History(await testZooKeeper());
    await history.send(
      "operator",
      DIRECTORIES.map((path) => create(path)),
    );
    return history;
  }

  async end(): Promise<void> {
    await Promise.all([...this.sessions.values(), ...this.retired].map((session) => session.close()));
  }

  check(atRest = false): readonly Violation[] {
    const { logDir, root } = this.zooKeeper;
    return checkInvariants({ logDir, root, atRest }).violations;
  }

  async session(author: Author): Promise<RawSession> {
    const known = this.sessions.get(author);
    if (known !== undefined) return known;
    const session = await openRawSession(this.zooKeeper.connect);
    this.sessions.set(author, session);
    if (author !== "operator") {
      const worker: Op = { op: "create", path: paths.worker(author, randomUUID()), data: EMPTY, ephemeral: true };
      await this.send(author, [worker]);
    }
    return session;
  }

  /** The same stage with a new session, as after a restart; answers with the old one, which lives on. */
  async successor(author: Stage): Promise<RawSession> {
    const old = await this.session(author);
    this.sessions.delete(author);
    const next = await this.session(author);
    this.sessions.set(author, next);
    this.sessions.set(randomUUID() as Author, old);
    return old;
  }

  async send(author: Author, ops: readonly Op[]): Promise<void> {
    const answer = await (await this.session(author)).multi(ops);
    if (!answer.ok) throw new Error(`${ops[answer.index]?.path ?? ""}: ${answer.code}`);
    this.lastZxid = answer.zxid;
  }

  async version(path: string): Promise<number> {
    const node = await (await this.session("operator")).get(path);
    if (!node.ok) throw new Error(`${path}: ${node.code}`);
    return node.value.stat.version;
  }

  async data(path: string): Promise<Buffer> {
    const node = await (await this.session("operator")).get(path);
    if (!node.ok) throw new Error(`${path}: ${node.code}`);
    return node.value.data;
  }

  async jobStatus(id: JobId): Promise<JobStatus> {
    const decoded = records.jobStatus.decode(await this.data(paths.jobStatus(id)));
    if (!decoded.ok) throw new Error(decoded.problem);
    return decoded.value;
  }

  /** A batch that is Processing, with its first jobs. */
  async batch(rows = 1, jobs = rows): Promise<{ batch: BatchId; jobs: JobId[] }> {
    const batch = batchId(++this.made);
    await this.send("batch-intake", this.batchOps(batch));
    await this.send("batch-intake", await this.claimBatchOps(batch));
    await this.send("batch-intake", await this.startOps(batch, rows));
    const ids: JobId[] = [];
    for (let row = 0; row < jobs; row++) ids.push(await this.job(batch));
    await this.send("batch-intake", [remove(paths.batchLock(batch))]);
    return { batch, jobs: ids };
  }

  batchOps(batch: BatchId): Op[] {
    return [
      create(paths.batchUuid(batchUuidFromKey("test", batch)), Buffer.from(batch)),
      create(paths.batch(batch)),
      create(paths.batchSubmission(batch), Buffer.from(JSON.stringify({ profile_name: PROFILE }))),
      create(paths.batchStatus(batch), batchStatus("Pending")),
      create(paths.batchStates(batch)),
      ...BUCKETS.map((bucket) => create(paths.bucket(batch, bucket))),
      create(paths.fleetBatch("Pending", batch)),
    ];
  }

  async claimBatchOps(batch: BatchId): Promise<Op[]> {
    const status = paths.batchStatus(batch);
    return [
      { op: "create", path: paths.batchLock(batch), data: EMPTY, ephemeral: true },
      set(status, await this.data(status), await this.version(status)),
    ];
  }

  async startOps(batch: BatchId, rows: number): Promise<Op[]> {
    const expansion = { rows, created: 0, digest: "", reports: 0, op: randomUUID() };
    return [
      ...(await this.batchMoveOps(batch, "Pending", "Processing")),
      create(paths.expansion(batch), records.expansion.encode(expansion)),
    ];
  }

  async batchMoveOps(batch: BatchId, from: BatchState, to: BatchState): Promise<Op[]> {
    return [
      set(paths.batchStatus(batch), batchStatus(to), await this.version(paths.batchStatus(batch))),
      remove(paths.fleetBatch(from, batch)),
      create(paths.fleetBatch(to, batch)),
    ];
  }

  async job(batch: BatchId): Promise<JobId> {
    const id = jobId(++this.made);
    await this.send("batch-intake", [await this.cursorOp(batch), ...this.jobOps(batch, id)]);
    return id;
  }

  async cursorOp(batch: BatchId, jobs = 1): Promise<Op> {
    const path = paths.expansion(batch);
    const now = records.expansion.decode(await this.data(path));
    if (!now.ok) throw new Error(now.problem);
    const next = { ...now.value, created: now.value.created + jobs, op: randomUUID() };
    return set(path, records.expansion.encode(next), await this.version(path));
  }

  jobOps(batch: BatchId, id: JobId): Op[] {
    return [
      create(paths.job(id)),
      create(paths.jobBid(id), Buffer.from(batch)),
      create(paths.jobConfiguration(id), Buffer.from(JSON.stringify({ profile_name: PROFILE }))),
      create(paths.jobPriority(id), Buffer.from("5")),
      create(paths.jobSpaceNeeded(id), Buffer.from("0")),
      create(paths.jobStatus(id), jobStatus({ status: "Pending" })),
      create(paths.fleetJob(id), records.fleetJob.encode({ attempts: 0, events: [event("create")] })),
      create(paths.queueEntry("Pending", 5, id)),
      create(paths.bucketEntry(batch, "batch-processing", id)),
    ];
  }

  async claimOps(id: JobId): Promise<Op[]> {
    const path = paths.jobStatus(id);
    return [
      { op: "create", path: paths.jobLock(id), data: EMPTY, ephemeral: true },
      set(path, await this.data(path), await this.version(path)),
      await this.historyOp(id, (job) => ({ ...job, attempts: job.attempts + 1, claimed: [AT_SECONDS, "somebody"] })),
    ];
  }

  async historyOp(id: JobId, change: (job: FleetJob) => FleetJob): Promise<Op> {
    const path = paths.fleetJob(id);
    const now = records.fleetJob.decode(await this.data(path));
    if (!now.ok) throw new Error(now.problem);
    return set(path, records.fleetJob.encode(change(now.value)), await this.version(path));
  }

  /** An operator's name for what is done to a job or a batch. */
  auditOp(target: JobId | BatchId): Op {
    const number = ++this.made;
    const words = { op: randomUUID(), at: AT, actor: "olga", action: "test", reason: "", previous: "" };
    return create(paths.auditRecord(number), records.auditRecord.encode({ number, target, ...words }));
  }

  /** Status, entry, bucket, history and lock: a commit, or with `keepLock` an operator's move. */
  async moveOps(id: JobId, to: JobState, options: MoveOptions = {}): Promise<Op[]> {
    const now = await this.jobStatus(id);
    const from = now.status;
    const success = jobRow(from).done === to;
    const next: JobStatus = {
      ...now,
      status: to,
      last_successful_status: "last" in options ? (options.last ?? null) : success ? from : now.last_successful_status,
      retry_count: options.retry ?? now.retry_count,
    };
    const kind = options.kind ?? (success ? "done" : "fail");
    const moved = ({ events }: FleetJob): FleetJob => ({ attempts: 0, events: [...events, event(kind)].slice(-12) });
    return [
      set(paths.jobStatus(id), jobStatus(next), await this.version(paths.jobStatus(id))),
      remove(paths.queueEntry(from, 5, id)),
      create(paths.queueEntry(to, 5, id)),
      ...this.bucketOps((await this.data(paths.jobBid(id))).toString() as BatchId, id, from, to),
      await this.historyOp(id, moved),
      ...(to === "Failed" ? [create(paths.callback(id, next.retry_count))] : []),
      ...(options.keepLock === true ? [] : [remove(paths.jobLock(id))]),
    ];
  }

  private bucketOps(batch: BatchId, id: JobId, from: JobState, to: JobState): Op[] {
    const [old, next] = [bucketOf(from), bucketOf(to)];
    return old === next ? [] : [remove(paths.bucketEntry(batch, old, id)), create(paths.bucketEntry(batch, next, id))];
  }

  async claim(id: JobId): Promise<Stage> {
    const owner = jobRow((await this.jobStatus(id)).status).owner!;
    await this.send(owner, await this.claimOps(id));
    return owner;
  }

  /** Through claim and commit of the stage that owns it. */
  async step(id: JobId, to?: JobState, options?: MoveOptions): Promise<void> {
    const owner = await this.claim(id);
    const { status } = await this.jobStatus(id);
    await this.send(owner, await this.moveOps(id, to ?? jobRow(status).done!, options));
  }

  async stepTo(id: JobId, state: JobState): Promise<void> {
    while ((await this.jobStatus(id)).status !== state) await this.step(id);
  }

  async operate(id: JobId, to: JobState, kind: EventKind, options: MoveOptions = {}): Promise<void> {
    const ops = await this.moveOps(id, to, { kind, keepLock: true, ...options });
    await this.send("operator", [...ops, this.auditOp(id)]);
  }

  async gateOps(batch: BatchId, from: BatchState = "Processing", to: BatchState = "Reporting"): Promise<Op[]> {
    const bucket = paths.bucket(batch, "batch-processing");
    return [...(await this.batchMoveOps(batch, from, to)), remove(bucket), create(bucket)];
  }

  async verdictOps(batch: BatchId, to: BatchState, failed: JobId[], successful: JobId[]): Promise<Op[]> {
    return [
      ...(await this.batchMoveOps(batch, "Reporting", to)),
      this.reportOp(batch, failed, successful),
      remove(paths.batchLock(batch)),
    ];
  }

  reportOp(batch: BatchId, failed: JobId[], successful: JobId[]): Op {
    const report: StatusReport = { last_modified: AT, failed_jobs: failed, successful_jobs: successful };
    return create(paths.batchReport(batch), records.statusReport.encode(report));
  }

  /** From the gate to the verdict. */
  async report(batch: BatchId, to: BatchState, failed: JobId[], successful: JobId[]): Promise<void> {
    await this.send("reporter", await this.gateOps(batch));
    await this.send("reporter", await this.claimBatchOps(batch));
    await this.send("reporter", await this.verdictOps(batch, to, failed, successful));
  }
}
