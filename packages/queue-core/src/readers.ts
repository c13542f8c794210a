/** Looking at one job or batch as a whole, for people and for stages that must tell of them. */
import type { EachAnswer, Node, Session } from "@sluice/zookeeper";
import { type BatchId, type JobId, parseJobId } from "./ids.ts";
import { nodeOf, readable, unreadableIn } from "./nodes.ts";
import { paths } from "./paths.ts";
import {
  type BatchStatus,
  type Expansion,
  type FleetJob,
  type Identifiers,
  type Inventory,
  type JobConfiguration,
  type JobStatus,
  type Lock,
  type Metadata,
  records,
  type StatusReport,
  type Submission,
} from "./records.ts";
import { type Bucket, BUCKETS } from "./states.ts";

export interface JobView {
  readonly id: JobId;
  readonly batchId: BatchId;
  readonly status: JobStatus;
  readonly configuration: JobConfiguration;
  readonly identifiers: Identifiers | null;
  readonly metadata: Metadata | null;
  readonly inventory: Inventory | null;
  readonly priority: number;
  readonly spaceNeeded: number;
  readonly history: FleetJob | null;
  readonly lock: Lock | null;
}

export interface BatchView {
  readonly id: BatchId;
  readonly status: BatchStatus;
  readonly submission: Submission;
  readonly expansion: Expansion | null;
  readonly report: StatusReport | null;
  readonly counts: Readonly<Record<Bucket, number>>;
}

export type Viewed<T> =
  | { readonly kind: "found"; readonly value: T }
  | { readonly kind: "none" }
  | { readonly kind: "broken"; readonly problem: string }
  /** No answer from ZooKeeper. */
  | { readonly kind: "silence" };

const JOB_NODES = 10;

function jobReads(id: JobId): readonly { readonly get: string }[] {
  return [
    paths.jobBid(id),
    paths.jobStatus(id),
    paths.jobConfiguration(id),
    paths.jobIdentifiers(id),
    paths.jobMetadata(id),
    paths.jobInventory(id),
    paths.jobPriority(id),
    paths.jobSpaceNeeded(id),
    paths.fleetJob(id),
    paths.jobLock(id),
  ].map((get) => ({ get }));
}

/** Many jobs in one round trip, in the order asked; at most a few hundred at a time. */
export async function readJobs(session: Session, ids: readonly JobId[]): Promise<readonly Viewed<JobView>[] | null> {
  if (ids.length === 0) return [];
  const answers = await session.readEach(ids.flatMap(jobReads));
  if (!answers.ok) return null;
  return ids.map((id, i) =>
    viewed(answers.value.slice(i * JOB_NODES, (i + 1) * JOB_NODES), (nodes) => jobView(id, nodes)),
  );
}

export async function readJob(session: Session, id: JobId): Promise<Viewed<JobView>> {
  const views = await readJobs(session, [id]);
  return views?.[0] ?? { kind: "silence" };
}

/** One that cannot be read is no reason not to show the others, and is not one that is gone. */
function viewed<T>(answers: readonly EachAnswer[], view: (nodes: readonly (Node | null)[]) => Viewed<T>): Viewed<T> {
  const problem = unreadableIn(answers);
  return problem === null ? view(answers.map(nodeOf)) : { kind: "broken", problem };
}

function jobView(id: JobId, nodes: readonly (Node | null)[]): Viewed<JobView> {
  const [bid, status, configuration, identifiers, metadata, inventory, priority, space, history, lock] = nodes;
  if (!status) return { kind: "none" };
  const batchId = readable(records.bid, bid);
  const decoded = records.jobStatus.decode(status.data);
  const config = readable(records.jobConfiguration, configuration);
  if (!decoded.ok) return { kind: "broken", problem: decoded.problem };
  if (batchId === null || config === null) return { kind: "broken", problem: `bid or configuration of ${id}` };
  return {
    kind: "found",
    value: {
      id,
      batchId,
      status: decoded.value,
      configuration: config,
      identifiers: readable(records.identifiers, identifiers),
      metadata: readable(records.metadata, metadata),
      inventory: readable(records.inventory, inventory),
      priority: readable(records.priority, priority) ?? 0,
      spaceNeeded: readable(records.spaceNeeded, space) ?? 0,
      history: readable(records.fleetJob, history),
      lock: readable(records.lock, lock),
    },
  };
}

/** What all pages about a batch show; its report may be long. */
export type BatchSummary = Omit<BatchView, "report">;

const batchReads = (id: BatchId): readonly { readonly get: string }[] =>
  [
    paths.batchStatus(id),
    paths.batchSubmission(id),
    paths.expansion(id),
    ...BUCKETS.map((bucket) => paths.bucket(id, bucket)),
  ].map((get) => ({ get }));
const BATCH_NODES = 3 + BUCKETS.length;

/** Many batches in one round trip, in the order asked; at most a hundred at a time. */
export async function readBatches(
  session: Session,
  ids: readonly BatchId[],
): Promise<readonly Viewed<BatchSummary>[] | null> {
  if (ids.length === 0) return [];
  const answers = await session.readEach(ids.flatMap(batchReads));
  if (!answers.ok) return null;
  return ids.map((id, i) =>
    viewed(answers.value.slice(i * BATCH_NODES, (i + 1) * BATCH_NODES), (nodes) => batchSummary(id, nodes)),
  );
}

export async function readBatch(session: Session, id: BatchId): Promise<Viewed<BatchView>> {
  const answers = await session.readMany([...batchReads(id), { get: paths.batchReport(id) }]);
  if (!answers.ok) return { kind: "silence" };
  const nodes = answers.value.map(nodeOf);
  const view = batchSummary(id, nodes);
  if (view.kind !== "found") return view;
  return { kind: "found", value: { ...view.value, report: readable(records.statusReport, nodes[BATCH_NODES]) } };
}

function batchSummary(id: BatchId, nodes: readonly (Node | null)[]): Viewed<BatchSummary> {
  const [status, submission, expansion, ...buckets] = nodes;
  if (!status) return { kind: "none" };
  const decoded = records.batchStatus.decode(status.data);
  const submitted = readable(records.submission, submission);
  if (!decoded.ok) return { kind: "broken", problem: decoded.problem };
  if (submitted === null) return { kind: "broken", problem: `submission of ${id}` };
  const count = (bucket: Bucket): number => buckets[BUCKETS.indexOf(bucket)]?.stat.numChildren ?? 0;
  return {
    kind: "found",
    value: {
      id,
      status: decoded.value,
      submission: submitted,
      expansion: readable(records.expansion, expansion),
      counts: {
        "batch-processing": count("batch-processing"),
        "batch-failed": count("batch-failed"),
        "batch-completed": count("batch-completed"),
        "batch-deleted": count("batch-deleted"),
      },
    },
  };
}

/** The jobs of one bucket; null = no answer. */
export async function listBucket(session: Session, id: BatchId, bucket: Bucket): Promise<readonly JobId[] | null> {
  const names = await session.children(paths.bucket(id, bucket));
  if (!names.ok) return names.code === "NO_NODE" ? [] : null;
  return [...names.value.names].sort().flatMap((name) => parseJobId(name) ?? []);
}
