/** The tree of the queue, as far as the invariants speak of it, made by replaying transactions. */
import {
  type AuditRecord,
  jobId,
  type BatchId,
  type BatchState,
  type Bucket,
  type JobId,
  type JobState,
  meaningOf,
  parseBatchId,
  type PathMeaning,
  paths,
  records,
} from "@sluice/queue-core";
import type { LoggedOp } from "../transaction.ts";
import { applyToBatchNode, withExpansion } from "./batch-model.ts";
import { applyToJobNode, withToken } from "./job-model.ts";
import { type Part, partOf } from "./parts.ts";
import { type BatchView, type JobView, unknownBatch, unknownJob } from "./views.ts";

const NOTHING: ReadonlySet<Part> = new Set();

interface Context {
  readonly session: bigint;
  readonly zxid: bigint;
}

export class QueueModel {
  readonly jobs = new Map<JobId, JobView>();
  readonly batches = new Map<BatchId, BatchView>();
  readonly holds = new Set<string>();
  /** How many entries each state has. */
  readonly depth = new Map<JobState, number>();
  /** As they were before the transaction that is being applied. */
  readonly touchedJobs = new Map<JobId, JobView>();
  readonly touchedBatches = new Map<BatchId, BatchView>();
  /** What the transaction did besides. */
  readonly audits = new Set<string>();
  /** Jobs of bulk operations whose records the transaction wrote. */
  orders: ReadonlySet<string>[] = [];
  private readonly standing = new Map<bigint, Set<string>>();
  private readonly operations = new Map<string, ReadonlySet<string>>();
  readonly callbacks = new Set<string>();
  private readonly written = new Map<string, Set<Part>>();
  private readonly uuids = new Map<string, BatchId>();

  job(id: JobId): JobView {
    return this.jobs.get(id) ?? unknownJob(id);
  }

  begin(): void {
    this.touchedJobs.clear();
    this.touchedBatches.clear();
    this.audits.clear();
    this.orders = [];
    this.callbacks.clear();
    this.written.clear();
  }

  /** Tokens are known only when all ops of the transaction have been applied. */
  finish(session: bigint): void {
    for (const [id, before] of this.touchedJobs) this.jobs.set(id, withToken(before, this.job(id), session));
    for (const [id, before] of this.touchedBatches) this.batches.set(id, withToken(before, this.batch(id), session));
  }

  apply(op: LoggedOp, context: Context): void {
    if (op.op === "check") return;
    const meaning = meaningOf(op.path);
    this.note(meaning, op, context.session);
    if (!this.applyToJobs(meaning, op, context)) this.applyToBatches(meaning, op, context);
  }

  /** Jobs that a session has an order for in the audit, or whose operation it writes in this transaction. */
  orderedBy(session: bigint): readonly ReadonlySet<string>[] {
    const standing = this.standing.get(session);
    return standing === undefined ? this.orders : [...this.orders, standing];
  }

  /** What of a job or batch the transaction wrote. */
  wrote(id: JobId | BatchId): ReadonlySet<Part> {
    return this.written.get(id) ?? NOTHING;
  }

  private note(meaning: PathMeaning, op: LoggedOp, session: bigint): void {
    const written = partOf(meaning);
    if (written !== null) {
      const parts = this.written.get(written.id);
      if (parts === undefined) this.written.set(written.id, new Set([written.part]));
      else parts.add(written.part);
    }
    this.noteOperation(op);
    if (op.op !== "create") return;
    if (meaning.kind === "callback") this.callbacks.add(op.path);
    const audit = op.path.startsWith(`${paths.auditRecords}/`) ? records.auditRecord.decode(op.data) : null;
    if (audit?.ok === true) this.noteAudit(audit.value, session);
  }

  /** An order for many, whose session goes on with it in further transactions. */
  private noteAudit({ target, jobs }: AuditRecord, session: bigint): void {
    this.audits.add(target);
    const listed = jobs?.list === undefined ? null : records.jobNumbers.decode(Buffer.from(jobs.list));
    if (listed?.ok !== true) return;
    const ordered = this.standing.get(session) ?? new Set<string>();
    for (const number of listed.value) ordered.add(jobId(number));
    this.standing.set(session, ordered);
  }

  /** How far a bulk operation is, is written with the jobs that it moves: they are those of its list. */
  private noteOperation(op: LoggedOp): void {
    if (!op.path.startsWith(`${paths.operationRecords}/`)) return;
    const [, , , , id = "", jobs] = op.path.split("/");
    const listed = op.op === "create" && jobs === "jobs" ? records.jobNumbers.decode(op.data) : null;
    if (listed?.ok === true) this.operations.set(id, new Set(listed.value.map(jobId)));
    const ordered = op.op === "set" ? this.operations.get(id) : undefined;
    if (ordered !== undefined) this.orders.push(ordered);
  }

  private batch(id: BatchId): BatchView {
    return this.batches.get(id) ?? unknownBatch(id);
  }

  private applyToJobs(meaning: PathMeaning, op: LoggedOp, { session, zxid }: Context): boolean {
    switch (meaning.kind) {
      case "job":
        this.updateJob(meaning.job, (job) => withExistence(job, op));
        return true;
      case "job-node":
        this.updateJob(meaning.job, (job) => applyToJobNode(job, meaning.name, op, session, zxid));
        if (meaning.name === "bid" && op.op === "create") this.countMade(meaning.job);
        return true;
      case "fleet-job":
        this.updateJob(meaning.job, (job) => ({
          ...job,
          history: op.op === "create" || op.op === "set" ? op.data : null,
        }));
        return true;
      case "queue-entry":
        if (op.op !== "set") this.applyToEntry(meaning.job, meaning.state, meaning.priority, op.op === "create");
        return true;
      case "bucket-entry":
        if (op.op !== "set") this.applyToBucket(meaning.job, meaning.batch, meaning.bucket, op.op === "create");
        return true;
      default:
        return false;
    }
  }

  private applyToEntry(id: JobId, state: JobState, priority: number, created: boolean): void {
    this.depth.set(state, (this.depth.get(state) ?? 0) + (created ? 1 : -1));
    this.updateJob(id, (job) => ({
      ...job,
      entries: created
        ? [...job.entries, { state, priority }]
        : job.entries.filter((entry) => entry.state !== state || entry.priority !== priority),
    }));
  }

  private applyToBucket(id: JobId, batchId: BatchId, bucket: Bucket, created: boolean): void {
    this.updateBatch(batchId, (batch) => batch);
    const members = this.batch(batchId).buckets[bucket];
    if (created) members.add(id);
    else members.delete(id);
    this.updateJob(id, (job) => ({
      ...job,
      buckets: created
        ? [...job.buckets, { batch: batchId, bucket }]
        : job.buckets.filter((place) => place.batch !== batchId || place.bucket !== bucket),
    }));
  }

  private countMade(id: JobId): void {
    const { batch } = this.job(id);
    if (batch !== null) this.updateBatch(batch, (view) => ({ ...view, made: view.made + 1 }));
  }

  private applyToBatches(meaning: PathMeaning, op: LoggedOp, { session, zxid }: Context): void {
    switch (meaning.kind) {
      case "batch": {
        this.updateBatch(meaning.batch, (batch) => withExistence(batch, op));
        return;
      }
      case "batch-node": {
        this.updateBatch(meaning.batch, (batch) => applyToBatchNode(batch, meaning.name, op, session, zxid));
        return;
      }
      case "bucket": {
        this.updateBatch(meaning.batch, (batch) => batch);
        return;
      }
      case "expansion": {
        this.updateBatch(meaning.batch, (batch) => withExpansion(batch, op));
        return;
      }
      case "fleet-batch":
        if (op.op !== "set") this.applyToBatchEntry(meaning.batch, meaning.state, op.op === "create");
        return;
      case "batch-uuid": {
        this.applyToUuid(meaning.uuid, op);
        return;
      }
      case "collection-hold":
        if (op.op === "create") this.holds.add(meaning.profile);
        if (op.op === "delete") this.holds.delete(meaning.profile);
        return;
      default:
        return;
    }
  }

  private applyToBatchEntry(id: BatchId, state: BatchState, created: boolean): void {
    this.updateBatch(id, (batch) => ({
      ...batch,
      entries: created ? [...batch.entries, state] : batch.entries.filter((entry) => entry !== state),
    }));
  }

  private applyToUuid(uuid: string, op: LoggedOp): void {
    const old = this.uuids.get(uuid);
    if (old !== undefined) {
      this.updateBatch(old, (batch) => ({ ...batch, uuids: batch.uuids.filter((other) => other !== uuid) }));
      this.uuids.delete(uuid);
    }
    const id = op.op === "create" || op.op === "set" ? parseBatchId(op.data.toString("utf8")) : null;
    if (id === null) return;
    this.uuids.set(uuid, id);
    this.updateBatch(id, (batch) => ({ ...batch, uuids: [...batch.uuids, uuid] }));
  }

  private updateJob(id: JobId, change: (job: JobView) => JobView): void {
    const before = this.job(id);
    if (!this.touchedJobs.has(id)) this.touchedJobs.set(id, before);
    this.jobs.set(id, change(before));
  }

  private updateBatch(id: BatchId, change: (batch: BatchView) => BatchView): void {
    const before = this.batch(id);
    if (!this.touchedBatches.has(id)) this.touchedBatches.set(id, before);
    this.batches.set(id, change(before));
  }
}

const withExistence = <V extends { readonly removed: boolean }>(view: V, op: LoggedOp): V => ({
  ...view,
  exists: op.op !== "delete",
  removed: view.removed || op.op === "delete",
});
