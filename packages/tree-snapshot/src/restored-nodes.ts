/**
 * What becomes of a snapshot's nodes in the tree that is made of them. Nearly all are written as they are. Numbers that
 * the lost time may have used are passed over, and what was in somebody's hand is in nobody's. Pure.
 */
import { meaningOf as queueMeaningOf, type Ids, records as queueRecords, SHARDS } from "@sluice/job-queue";
import { type FleetIds, type FleetJob, paths, records } from "@sluice/queue-core";
import type { SnapshotNode } from "./format.ts";

/**
 * How many numbers are passed over (docs/adr/0045-a-restore-makes-a-new-epoch.md): more than a fleet can use between two
 * nightly snapshots, and few enough for a thousand restores within ten digits.
 */
export const GAP = { batch: 1_000_000, job: 10_000_000, blocks: 1_000_000, term: 1_000_000 } as const;

/** Of the tree that is replaced, if one was there: it may have used more numbers than the snapshot knows. */
export interface Counters {
  readonly ids: FleetIds | null;
  /** By shard of the general queue. */
  readonly shards: Readonly<Record<string, Ids>>;
}

export const NO_COUNTERS: Counters = { ids: null, shards: {} };

/**
 * These are made by the last transaction, or belong to the restore itself. A program beside the fleet is let in anew: what is
 * its own is told by the order of transactions, which is another one after a restore.
 */
const NOT_FROM_THE_FILE = new Set<string>([
  paths.fleet,
  paths.restoring,
  paths.fleetId,
  paths.fleetEpoch,
  paths.beside,
]);

export type Restored =
  | { readonly kind: "write"; readonly node: SnapshotNode }
  | { readonly kind: "leave" }
  | { readonly kind: "unreadable"; readonly why: string };

const LEAVE: Restored = { kind: "leave" };

export function restoredNode(node: SnapshotNode, replaced: Counters): Restored {
  const { path } = node;
  if (NOT_FROM_THE_FILE.has(path)) return LEAVE;
  // The process that was told to stop taking jobs is gone; one with its name that starts now is another.
  if (path.startsWith(`${paths.drains}/`)) return LEAVE;
  if (path === paths.fleetIds) return raisedIds(node, replaced);
  if (path.startsWith(`${paths.fleetJobs}/`)) return withoutClaim(node);
  const meaning = queueMeaningOf(path);
  // Each shard gets one of this restore.
  if (meaning.kind === "restored") return LEAVE;
  if (meaning.kind === "ids") return raisedBlocks(node, replaced.shards[String(meaning.shard)]);
  return { kind: "write", node };
}

function raisedIds({ path, data }: SnapshotNode, { ids }: Counters): Restored {
  const read = records.fleetIds.decode(data);
  if (!read.ok) return { kind: "unreadable", why: `${path}: ${read.problem}` };
  const { batch, job } = read.value;
  const raised: FleetIds = {
    ...read.value,
    batch: Math.max(batch, ids?.batch ?? 0) + GAP.batch,
    job: Math.max(job, ids?.job ?? 0) + GAP.job,
  };
  return { kind: "write", node: { path, data: records.fleetIds.encode(raised) } };
}

/** Blocks of a shard are SHARDS apart. Leases are named by terms. */
function raisedBlocks({ path, data }: SnapshotNode, there: Ids | undefined): Restored {
  const read = queueRecords.ids.decode(data);
  if (!read.ok) return { kind: "unreadable", why: `${path}: ${read.problem}` };
  const raised: Ids = {
    next: Math.max(read.value.next, there?.next ?? 0) + GAP.blocks * SHARDS,
    term: Math.max(read.value.term, there?.term ?? 0) + GAP.term,
  };
  return { kind: "write", node: { path, data: queueRecords.ids.encode(raised) } };
}

/** A claim under way did not kill its worker: its attempt does not count. Its token means nothing in the new tree. */
function withoutClaim(node: SnapshotNode): Restored {
  const read = records.fleetJob.decode(node.data);
  if (!read.ok || (read.value.claimed === undefined && read.value.token === undefined)) return { kind: "write", node };
  const { claimed, token: _, ...rest } = read.value;
  const attempts = claimed === undefined ? rest.attempts : Math.max(0, rest.attempts - 1);
  const job: FleetJob = { ...rest, attempts };
  return { kind: "write", node: { path: node.path, data: records.fleetJob.encode(job) } };
}
