/** Reads jobs: many at a time with names that were listed before, or one alone, everything in one moment. */
import {
  type BatchId,
  type Bucket,
  BUCKETS,
  clampPriority,
  JOB_STATES,
  type JobId,
  paths,
  type RecordType,
  records,
} from "@sluice/queue-core";
import type { Node, Read, ReadAnswer, Session } from "@sluice/zookeeper";
import type { Fact, JobFacts, Place, Subject } from "./facts.ts";

export type JobSubject = Extract<Subject, { kind: "job" }>;
type Listed = Pick<JobFacts, "entries" | "buckets">;

const nodeOf = (answer: ReadAnswer | undefined): Node | null => (answer?.kind === "node" ? answer.node : null);

export function factOf<T>(record: RecordType<T>, node: Node | null | undefined): Fact<T> | null {
  if (!node) return null;
  const decoded = record.decode(node.data);
  return { value: decoded.ok ? decoded.value : null, node };
}

const own = (id: JobId): readonly string[] => [
  paths.job(id),
  paths.jobBid(id),
  paths.jobStatus(id),
  paths.jobPriority(id),
  paths.jobConfiguration(id),
  paths.jobSpaceNeeded(id),
  paths.fleetJob(id),
  paths.jobLock(id),
];
const OWN = 8;

function assemble(
  id: JobId,
  nodes: readonly (Node | null)[],
  listed: Listed,
  { batch, taken }: { readonly batch: Node | null; readonly taken: readonly BatchId[] },
  callbacks: JobFacts["callbacks"],
): JobFacts {
  const [job, bid, status, priority, configuration, space, history, lock] = nodes;
  return {
    id,
    exists: !!job,
    bid: factOf(records.bid, bid),
    status: factOf(records.jobStatus, status),
    priority: factOf(records.priority, priority),
    configuration: factOf<unknown>(records.jobConfiguration as RecordType<unknown>, configuration),
    space: factOf(records.spaceNeeded, space),
    history: factOf(records.fleetJob, history),
    lock: lock ?? null,
    ...listed,
    batch: factOf(records.batchStatus, batch),
    taken,
    callbacks,
  };
}

/** A page of jobs, their places as they were listed before: good for a suspicion, not for a verdict. null = no answer. */
export async function readJobPage(
  session: Session,
  subjects: readonly { readonly subject: JobSubject; readonly listed: Listed }[],
): Promise<readonly JobFacts[] | null> {
  const answers = await session.readMany(subjects.flatMap(({ subject }) => own(subject.id).map((get) => ({ get }))));
  if (!answers.ok) return null;
  const pages = subjects.map((_, i) => answers.value.slice(i * OWN, (i + 1) * OWN).map(nodeOf));
  const bids = pages.map((nodes) => factOf(records.bid, nodes[1])?.value ?? null);
  const named = subjects.map(({ listed }, i) => batchesOf(listed, bids[i] ?? null));
  const batches = [...new Set(named.flat())];
  const reads = batches.flatMap((b) => [{ get: paths.batchStatus(b) }, { get: paths.expansion(b) }]);
  const there = reads.length === 0 ? null : await session.readMany(reads);
  if (there?.ok === false) return null;
  const node = (at: number): Node | null => nodeOf(there?.value[at]);
  const isTaken = (id: BatchId): boolean => node(2 * batches.indexOf(id) + 1) !== null;
  return subjects.map(({ subject, listed }, i) => {
    const bid = bids[i] ?? null;
    const batch = bid === null ? null : node(2 * batches.indexOf(bid));
    const callbacks = subject.callbacks.map((retry) => ({ retry, version: 0 }));
    return assemble(subject.id, pages[i] ?? [], listed, { batch, taken: (named[i] ?? []).filter(isTaken) }, callbacks);
  });
}

const batchesOf = ({ buckets }: Pick<Listed, "buckets">, bid: BatchId | null): readonly BatchId[] => [
  ...new Set([...buckets.map(({ batch }) => batch), ...(bid === null ? [] : [bid])]),
];

/**
 * Everything of one job in one multiRead, which ZooKeeper answers from one moment: a move is there whole or not at all.
 * null = no answer; `again` = what had to be known beforehand, its batch and priority, changed between.
 */
export async function readJobNow(session: Session, subject: JobSubject): Promise<JobFacts | "again" | null> {
  const { id } = subject;
  const before = await session.readMany([{ get: paths.jobBid(id) }, { get: paths.jobPriority(id) }]);
  if (!before.ok) return null;
  const bid = factOf(records.bid, nodeOf(before.value[0]))?.value ?? null;
  const priority = factOf(records.priority, nodeOf(before.value[1]))?.value ?? null;
  const priorities = new Set(subject.entries.map((entry) => entry.priority));
  if (priority !== null) priorities.add(clampPriority(priority));
  const places: Place[] = JOB_STATES.flatMap((state) => [...priorities].map((p) => ({ state, priority: p })));
  const batches = [...new Set([...subject.batches, ...(bid === null ? [] : [bid])])];
  const buckets = batches.flatMap((batch) =>
    BUCKETS.map((bucket): { batch: BatchId; bucket: Bucket } => ({ batch, bucket })),
  );
  const wanted: readonly string[] = [
    ...own(id),
    ...places.map((place) => paths.queueEntry(place.state, place.priority, id)),
    ...buckets.map(({ batch, bucket }) => paths.bucketEntry(batch, bucket, id)),
    ...subject.callbacks.map((retry) => paths.callback(id, retry)),
    ...batches.map(paths.expansion),
    ...(bid === null ? [] : [paths.batchStatus(bid)]),
  ];
  const answers = await session.readMany(wanted.map((get): Read => ({ get })));
  if (!answers.ok) return null;
  const nodes = answers.value.map(nodeOf);
  let at = OWN;
  const there = <T>(all: readonly T[]): T[] => all.filter(() => nodes[at++]);
  const listed: Listed = { entries: there(places), buckets: there(buckets) };
  const callbacks = subject.callbacks.flatMap((retry) => {
    const node = nodes[at++];
    return node ? [{ retry, version: node.stat.version }] : [];
  });
  const taken = there(batches);
  const batch = bid === null ? null : (nodes[at] ?? null);
  const facts = assemble(id, nodes.slice(0, OWN), listed, { batch, taken }, callbacks);
  const same = (facts.bid?.value ?? null) === bid && (facts.priority?.value ?? null) === priority;
  return same ? facts : "again";
}
