/** Looking at jobs, in one round trip for many: reads cost more than writes here. */
import type { Answer, EachAnswer, Node, Read, Session, Stat } from "@sluice/zookeeper";
import { type Beside, isMadeBeside, isNewer, judgeWrite, overwritten, readBeside } from "./beside.ts";
import type { FleetIdentity } from "./fleet-identity.ts";
import { keptClaim, readyAtMs, unwaiting } from "./fleet-job.ts";
import { jobUuid, parseJobUuid } from "./ids.ts";
import type { Candidate, Job, JobVersions, Lease, LoadedJob, ReadyCandidate } from "./job.ts";
import { nodeOf, optional, required, unreadableIn } from "./nodes.ts";
import { parseQueueEntry, paths, type QueueEntry } from "./paths.ts";
import { placeOfJob } from "./places.ts";
import { type FleetJob, type Parsed, records } from "./records.ts";
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
  const found = entries.map((entry, i) => foundOf(entry, answers.value.slice(i * 3, i * 3 + 3)));
  // Who else writes here is asked only where somebody has: a fleet that is alone pays nothing for it.
  const beside = found.some(isOfAnother) ? await readBeside(session) : { ok: true as const, value: null };
  if (!beside.ok) return beside;
  const nowMs = session.serverNowMs();
  return { ok: true, value: found.map((each) => candidate(state, each, beside.value, nowMs)) };
}

interface Found {
  readonly entry: QueueEntry;
  readonly status: Node | null;
  readonly history: Node | null;
  readonly lock: Node | null;
  /** What keeps one of them from being read. */
  readonly unreadable: string | null;
}

function foundOf(entry: QueueEntry, answers: readonly EachAnswer[]): Found {
  const [status = null, history = null, lock = null] = answers.map(nodeOf);
  return { entry, status, history, lock, unreadable: unreadableIn(answers) };
}

const isOfAnother = ({ status, history, unreadable }: Found): boolean =>
  unreadable === null && status !== null && (history === null || isNewer(status.stat, history.stat));

function candidate(state: JobState, found: Found, beside: Beside | null, nowMs: number): Candidate {
  const { entry, status: statusNode, lock: lockNode, unreadable } = found;
  if (unreadable !== null) return { kind: "broken", entry, problem: unreadable };
  if (!statusNode) return { kind: "gone", entry };
  const isMade = found.history === null && beside !== null && isMadeBeside(beside, statusNode.stat);
  if (!found.history && !isMade) return { kind: "foreign", entry };
  const status = records.jobStatus.decode(statusNode.data);
  if (!status.ok) return { kind: "broken", entry, problem: status.problem };
  // Locked first: one without transactions is perhaps on its way from there to here, and would break at our help.
  if (lockNode) {
    const lock = records.lock.decode(lockNode.data);
    return { kind: "locked", entry, lock: lock.ok ? lock.value : null, sinceMs: lockNode.stat.ctime };
  }
  const history = historyOf(found, { state: status.value.status, stat: statusNode.stat }, beside);
  if (history.kind !== "known") return { ...history, entry };
  if (status.value.status !== state) {
    return { kind: "moved", entry, state: status.value.status, statusVersion: statusNode.stat.version };
  }
  const { fleetJob, fleetJobVersion, readyAtMs: readyAt } = history;
  if (fleetJob.not_before !== undefined && readyAt > nowMs) {
    return { kind: "waiting", entry, readyAtMs: readyAt, why: fleetJob.why ?? "" };
  }
  return {
    kind: "ready",
    entry,
    state,
    status: status.value,
    statusBytes: statusNode.data,
    statusVersion: statusNode.stat.version,
    fleetJob,
    fleetJobVersion,
    ...(history.beside === undefined ? {} : { beside: history.beside }),
    readyAtMs: readyAt,
  };
}

type History =
  | ({ readonly kind: "known" } & Pick<ReadyCandidate, "fleetJob" | "fleetJobVersion" | "beside" | "readyAtMs">)
  | { readonly kind: "broken" | "overwritten"; readonly problem: string };

function historyOf(
  { history }: Found,
  status: { readonly state: JobState; readonly stat: Stat },
  beside: Beside | null,
): History {
  if (history === null) {
    const made = { kind: "made" } as const;
    const fleetJob: FleetJob = { attempts: 0, events: [] };
    return { kind: "known", fleetJob, fleetJobVersion: null, beside: made, readyAtMs: status.stat.mtime };
  }
  const decoded = records.fleetJob.decode(history.data);
  if (!decoded.ok) return { kind: "broken", problem: decoded.problem };
  const known = { kind: "known", fleetJob: decoded.value, fleetJobVersion: history.stat.version } as const;
  const write = beside === null ? null : judgeWrite(beside, status, { job: decoded.value, stat: history.stat });
  switch (write?.kind) {
    case "moved":
      // What its last stage here waited for is no longer waited for.
      return { ...known, fleetJob: unwaiting(decoded.value), beside: write, readyAtMs: status.stat.mtime };
    case "overwritten":
      return { kind: "overwritten", problem: overwritten(write.from, status.state) };
    default:
      return { ...known, readyAtMs: readyAtMs(decoded.value, history.stat.mtime) };
  }
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
