/**
 * What a restore must know of the tree that it takes away: which fleet it was, and how far its numbers had come. It
 * stands in the restore's marker, so that a restore which was broken off after the first deletions still knows it.
 */
import { type Ids, paths as queuePaths, records as queueRecords, SHARDS } from "@sluice/job-queue";
import { paths, readIdentity, records } from "@sluice/queue-core";
import type { Read, Session } from "@sluice/zookeeper";
import { z } from "zod";
import type { Header } from "./format.ts";
import type { Counters } from "./restored-nodes.ts";

const ReplacedSchema = z.object({
  identity: z.object({ fleet: z.string(), epoch: z.number() }).nullable(),
  ids: z.object({ batch: z.number(), job: z.number() }).nullable(),
  shards: z.record(z.string(), z.object({ next: z.number(), term: z.number() })),
});

export interface Replaced extends Counters {
  /** Null: there was no fleet. */
  readonly identity: { readonly fleet: string; readonly epoch: number } | null;
}

const MarkerSchema = z.object({ replaced: ReplacedSchema.optional() });

export type LookedAt =
  { readonly ok: true; readonly replaced: Replaced } | { readonly ok: false; readonly why: string };

export async function lookAtReplaced(session: Session): Promise<LookedAt> {
  const marker = await session.get(paths.restoring);
  if (!marker.ok && marker.code !== "NO_NODE") return { ok: false, why: `ZooKeeper does not answer: ${marker.code}` };
  const kept = marker.ok ? readMarker(marker.value.data) : null;
  if (kept !== null) return { ok: true, replaced: kept };
  const identity = await readIdentity({ session });
  if (!identity.ok && identity.why !== "absent") return { ok: false, why: identity.problem };
  const counters = await readCounters(session);
  if (counters === null) return { ok: false, why: "ZooKeeper does not answer" };
  const found = identity.ok ? { fleet: identity.identity.fleet, epoch: identity.identity.epoch } : null;
  return { ok: true, replaced: { identity: found, ...counters } };
}

export const markerData = ({ fleet, zxid, at }: Header, replaced: Replaced): Buffer =>
  Buffer.from(JSON.stringify({ fleet, zxid, at, replaced }));

function readMarker(data: Buffer): Replaced | null {
  try {
    return MarkerSchema.parse(JSON.parse(data.toString("utf8"))).replaced ?? null;
  } catch {
    return null;
  }
}

/** What is not there, or cannot be read, has no numbers to pass over: the snapshot's count alone. Null: no answer. */
async function readCounters(session: Session): Promise<Counters | null> {
  const shards = Array.from({ length: SHARDS }, (_, shard) => shard);
  const reads: readonly Read[] = [{ get: paths.fleetIds }, ...shards.map((shard) => ({ get: queuePaths.ids(shard) }))];
  const answers = await session.readMany(reads);
  if (!answers.ok) return null;
  const [first, ...others] = answers.value;
  const ids = first?.kind === "node" ? records.fleetIds.decode(first.node.data) : null;
  const found: Record<string, Ids> = {};
  for (const [shard, answer] of others.entries()) {
    const read = answer.kind === "node" ? queueRecords.ids.decode(answer.node.data) : null;
    if (read?.ok === true) found[String(shard)] = read.value;
  }
  return { ids: ids?.ok === true ? ids.value : null, shards: found };
}
