/**
 * Each change of a job as the list of ops of one multi. Pure: tested without ZooKeeper, read without knowing it.
 *
 * Invariant: a job is in exactly one queue, the one that its status names, and in exactly one bucket of its batch.
 * Ops stand in the order in which they are likely to fail, because ZooKeeper names only the first that does.
 */
import type { Op } from "@sluice/zookeeper";
import { type BatchId, type JobId } from "./ids.ts";
import type { JobChanges, JobVersions, Lease, ReadyCandidate } from "./job.ts";
import { paths } from "./paths.ts";
import {
  type CallbackRecord,
  EMPTY,
  type FleetJob,
  type Identifiers,
  type JobConfiguration,
  type JobStatus,
  type Lock,
  type Metadata,
  records,
} from "./records.ts";
import { bucketOf } from "./transitions.ts";
import type { JobState } from "./states.ts";

/** Entries are created empty and never written: their version is always 0, and so is that of a lock of ours. */
const FRESH = 0;

export const createOp = (path: string, data: Buffer = EMPTY): Op => ({ op: "create", path, data });
export const setOp = (path: string, data: Buffer, version: number): Op => ({ op: "set", path, data, version });
export const deleteOp = (path: string, version = FRESH): Op => ({ op: "delete", path, version });

export function claimOps(
  candidate: ReadyCandidate,
  lock: Lock,
  fleetJob: FleetJob,
  adoption: readonly Op[] = [],
): readonly Op[] {
  const { id, priority } = candidate.entry;
  return [
    { op: "check", path: paths.queueEntry(candidate.state, priority, id) },
    { op: "create", path: paths.jobLock(id), data: records.lock.encode(lock), ephemeral: true },
    // The same bytes: only the version moves. It is the fence, for a re-created lock has version 0 again.
    setOp(paths.jobStatus(id), candidate.statusBytes, candidate.statusVersion),
    writeOp(paths.fleetJob(id), records.fleetJob.encode(fleetJob), candidate.fleetJobVersion),
    ...adoption,
  ];
}

export interface StatusWrite {
  readonly id: JobId;
  readonly status: JobStatus;
  readonly version: number;
}

export interface EntryMove {
  readonly id: JobId;
  readonly from: JobState;
  readonly to: JobState;
  readonly fromPriority: number;
  readonly toPriority: number;
}

/** Status and queue entry go together, always. */
export function moveOps(write: StatusWrite, entry: EntryMove): readonly Op[] {
  return [
    setOp(paths.jobStatus(write.id), records.jobStatus.encode(write.status), write.version),
    deleteOp(paths.queueEntry(entry.from, entry.fromPriority, entry.id)),
    createOp(paths.queueEntry(entry.to, entry.toPriority, entry.id)),
  ];
}

/** The batch's view changes only when a job ends or comes back. */
export function bucketOps(batch: BatchId, id: JobId, from: JobState, to: JobState): readonly Op[] {
  const [old, next] = [bucketOf(from), bucketOf(to)];
  return old === next
    ? []
    : [deleteOp(paths.bucketEntry(batch, old, id)), createOp(paths.bucketEntry(batch, next, id))];
}

function writeOp(path: string, data: Buffer, version: number | null): Op {
  return version === null ? createOp(path, data) : setOp(path, data, version);
}

/** The data nodes that a stage's findings change; the priority node only if it really changes. */
export function changeOps(
  id: JobId,
  changes: JobChanges,
  versions: JobVersions,
  priority: { readonly from: number; readonly to: number },
): readonly Op[] {
  const ops: Op[] = [];
  if (priority.to !== priority.from) {
    ops.push(setOp(paths.jobPriority(id), records.priority.encode(priority.to), versions.priority));
  }
  if (changes.spaceNeeded !== undefined) {
    ops.push(setOp(paths.jobSpaceNeeded(id), records.spaceNeeded.encode(changes.spaceNeeded), versions.spaceNeeded));
  }
  if (changes.identifiers !== undefined) {
    ops.push(writeOp(paths.jobIdentifiers(id), records.identifiers.encode(changes.identifiers), versions.identifiers));
  }
  if (changes.metadata !== undefined) {
    ops.push(writeOp(paths.jobMetadata(id), records.metadata.encode(changes.metadata), versions.metadata));
  }
  if (changes.inventory !== undefined) {
    ops.push(writeOp(paths.jobInventory(id), records.inventory.encode(changes.inventory), versions.inventory));
  }
  if (changes.callbackBody !== undefined) {
    const data = records.callbackBody.encode(changes.callbackBody);
    ops.push(writeOp(paths.callbackBody(id), data, versions.callbackBody));
  }
  return ops;
}

/** What was told belongs to the stay in Notify that ends with this move. */
export const forgetBodyOps = (id: JobId, version: number | null): readonly Op[] =>
  version === null ? [] : [deleteOp(paths.callbackBody(id), version)];

/** The end of every owner's multi. Deleting the lock is the proof that it still stood. */
export function settleOps(lease: Lease, fleetJob: FleetJob): readonly Op[] {
  return [
    setOp(paths.fleetJob(lease.id), records.fleetJob.encode(fleetJob), lease.fleetJobVersion),
    deleteOp(paths.jobLock(lease.id)),
  ];
}

/** Gives a job back to its queue: the status keeps its words and moves its version, so that no older commit fits. */
export function giveBackOps(lease: Lease, fleetJob: FleetJob): readonly Op[] {
  return [setOp(paths.jobStatus(lease.id), lease.statusBytes, lease.token), ...settleOps(lease, fleetJob)];
}

export const callbackOp = (id: JobId, callback: CallbackRecord): Op =>
  createOp(paths.callback(id, callback.retry), records.callback.encode(callback));

export interface NewJob {
  readonly id: JobId;
  readonly batch: BatchId;
  readonly priority: number;
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
  readonly metadata: Metadata | null;
  readonly status: JobStatus;
  readonly fleetJob: FleetJob;
}

/** A job is whole from its first zxid: all its nodes, its entry and its place in the batch. */
export function createJobOps(job: NewJob): readonly Op[] {
  const { id, batch, status } = job;
  return [
    createOp(paths.job(id)),
    createOp(paths.jobBid(id), records.bid.encode(batch)),
    createOp(paths.jobConfiguration(id), records.jobConfiguration.encode(job.configuration)),
    createOp(paths.jobPriority(id), records.priority.encode(job.priority)),
    createOp(paths.jobSpaceNeeded(id), records.spaceNeeded.encode(0)),
    ...(job.identifiers === null
      ? []
      : [createOp(paths.jobIdentifiers(id), records.identifiers.encode(job.identifiers))]),
    ...(job.metadata === null ? [] : [createOp(paths.jobMetadata(id), records.metadata.encode(job.metadata))]),
    createOp(paths.jobStatus(id), records.jobStatus.encode(status)),
    createOp(paths.fleetJob(id), records.fleetJob.encode(job.fleetJob)),
    createOp(paths.queueEntry(status.status, job.priority, id)),
    createOp(paths.bucketEntry(batch, bucketOf(status.status), id)),
  ];
}
