/** Looking at jobs, in one round trip for many: reads cost more than writes here. */
import type { Answer, EachAnswer, Read, Session } from "@sluice/zookeeper";
import type { FleetIdentity } from "./fleet-identity.ts";
import { keptClaim, readyAtMs } from "./fleet-job.ts";
import { jobUuid, parseJobUuid } from "./ids.ts";
import type { Candidate, Job, JobVersions, Lease, LoadedJob } from "./job.ts";
import { nodeOf, optional, required, unreadableIn } from "./nodes.ts";
import { parseQueueEntry, paths, type QueueEntry } from "./paths.ts";
import { placeOfJob } from "./places.ts";
import { type Parsed, records } from "./records.ts";
import type { JobState } from "./states.ts";

/** Entries in the order in which they are to be worked: by priority, then by age of the job. */
export function sortEntries(names: readonly string[]): readonly QueueEntry[] {
  return [...names].sort().flatMap((name) => parseQueueEntry(name) ?? []);
}

/** Status, history and lock of each entry, in one multiRead. */
export async function peek(
  session: Session,
  state: JobState,
  entries: readonly QueueEntry[],
): Promise<Answer<readonly Candidate[]>> {
  const reads = entries.flatMap(({ id }): Read[] => [
    { get: paths.jobStatus(id) },
    { get: paths.fleetJob(id) },
    { get: paths.jobLock(id) },
  ]);
  if (reads.length === 0) return { ok: true, value: [] };
  const answers = await session.readEach(reads);
  if (!answers.ok) return answers;
  const nowMs = session.serverNowMs();
  const value = entries.map((entry, i) => candidate(state, entry, answers.value.slice(i * 3, i * 3 + 3), nowMs));
  return { ok: true, value };
}

function candidate(state: JobState, entry: QueueEntry, answers: readonly EachAnswer[], nowMs: number): Candidate {
  const unreadable = unreadableIn(answers);
  if (unreadable !== null) return { kind: "broken", entry, problem: unreadable };
  const [statusNode, fleetNode, lockNode] = answers.map(nodeOf);
  if (!statusNode) return { kind: "gone", entry };
  if (!fleetNode) return { kind: "foreign", entry };
  const status = records.jobStatus.decode(statusNode.data);
  if (!status.ok) return { kind: "broken", entry, problem: status.problem };
  if (status.value.status !== state) {
    return { kind: "moved", entry, state: status.value.status, statusVersion: statusNode.stat.version };
  }
  if (lockNode) {
    const lock = records.lock.decode(lockNode.data);
    return { kind: "locked", entry, lock: lock.ok ? lock.value : null, sinceMs: lockNode.stat.ctime };
  }
  const fleetJob = records.fleetJob.decode(fleetNode.data);
  if (!fleetJob.ok) return { kind: "broken", entry, problem: fleetJob.problem };
  const readyAt = readyAtMs(fleetJob.value, fleetNode.stat.mtime);
  if (fleetJob.value.not_before !== undefined && readyAt > nowMs) {
    return { kind: "waiting", entry, readyAtMs: readyAt, why: fleetJob.value.why ?? "" };
  }
  return {
    kind: "ready",
    entry,
    state,
    status: status.value,
    statusBytes: statusNode.data,
    statusVersion: statusNode.stat.version,
    fleetJob: fleetJob.value,
    fleetJobVersion: fleetNode.stat.version,
    readyAtMs: readyAt,
  };
}

const LOADED = 8;

/** Everything a handler may want of its job, many jobs in one multiRead. */
export async function load(
  session: Session,
  leases: readonly Lease[],
  identity: FleetIdentity,
): Promise<Answer<readonly Parsed<LoadedJob>[]>> {
  const reads = leases.flatMap(({ id }): Read[] => [
    { get: paths.jobBid(id) },
    { get: paths.jobConfiguration(id) },
    { get: paths.jobPriority(id) },
    { get: paths.jobSpaceNeeded(id) },
    { get: paths.jobIdentifiers(id) },
    { get: paths.jobMetadata(id) },
    { get: paths.jobInventory(id) },
    { get: paths.callbackBody(id) },
  ]);
  if (reads.length === 0) return { ok: true, value: [] };
  const answers = await session.readEach(reads);
  if (!answers.ok) return answers;
  const value = leases.map((lease, i) => loaded(lease, answers.value.slice(i * LOADED, (i + 1) * LOADED), identity));
  return { ok: true, value };
}

function loaded(lease: Lease, answers: readonly EachAnswer[], identity: FleetIdentity): Parsed<LoadedJob> {
  const unreadable = unreadableIn(answers);
  if (unreadable !== null) return { ok: false, problem: unreadable };
  const [bidNode, configurationNode, priorityNode, spaceNode, identifiersNode, metadataNode, inventoryNode, bodyNode] =
    answers.map(nodeOf);
  const bid = required(records.bid, bidNode);
  if (!bid.ok) return bid;
  const configuration = required(records.jobConfiguration, configurationNode);
  if (!configuration.ok) return configuration;
  const space = required(records.spaceNeeded, spaceNode);
  if (!space.ok) return space;
  const identifiers = optional(records.identifiers, identifiersNode);
  const metadata = optional(records.metadata, metadataNode);
  const inventory = optional(records.inventory, inventoryNode);
  const callbackBody = optional(records.callbackBody, bodyNode);
  for (const part of [identifiers, metadata, inventory, callbackBody]) if (!part.ok) return part;
  const versions: JobVersions = {
    priority: priorityNode?.stat.version ?? 0,
    spaceNeeded: spaceNode?.stat.version ?? 0,
    identifiers: identifiersNode?.stat.version ?? null,
    metadata: metadataNode?.stat.version ?? null,
    inventory: inventoryNode?.stat.version ?? null,
    callbackBody: bodyNode?.stat.version ?? null,
  };
  const job: Job = {
    id: lease.id,
    // Its name outside is the one it was given: an import brings it into a tree of another fleet.
    uuid: parseJobUuid(configuration.value.jobID ?? "") ?? jobUuid(lease.id, identity.fleet),
    batchId: bid.value,
    batchEpoch: placeOfJob({ id: lease.id, batchId: bid.value, configuration: configuration.value }).batchEpoch,
    state: lease.state,
    attempt: lease.fleetJob.attempts,
    retryCount: lease.status.retry_count,
    lastSuccessful: lease.status.last_successful_status,
    enteredAt: lease.status.last_modified,
    message: lease.status.message,
    priority: lease.priority,
    spaceNeeded: space.value,
    configuration: configuration.value,
    identifiers: identifiers.ok ? identifiers.value : null,
    metadata: metadata.ok ? metadata.value : null,
    inventory: inventory.ok ? inventory.value : null,
    ...(callbackBody.ok && callbackBody.value !== null ? { callbackBody: callbackBody.value } : {}),
    files: keptClaim(lease.fleetJob),
    claim: { epoch: identity.epoch, token: lease.token },
  };
  return { ok: true, value: { lease, job, versions } };
}
