/** Reads everything of the queue, in pages. */
import {
  type BatchId,
  BATCH_STATES,
  type BatchState,
  type Bucket,
  BUCKETS,
  type JobId,
  parseBatchId,
  parseJobId,
  parseQueueEntry,
  paths,
  records,
} from "@sluice/queue-core";
import type { Node, Read, ReadAnswer, Session } from "@sluice/zookeeper";
import type { OldBatch, OldJob, OldNode, OldTree, TargetBatch, TargetFacts } from "./old-tree.ts";

const PAGE = 100;
const LOCK = "lock";
const QUEUE_PARTS = new Set(["batches", "batch-uuids", "jobs", "locks", "fleet", "zookeeper"]);
const OBJECT_LOCKS = [paths.storageLocks, paths.inventoryLocks, paths.localIdLocks];

/** Ends the reading from wherever it is; never leaves this file. */
class NoAnswer extends Error {}

async function orNull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof NoAnswer) return null;
    throw error;
  }
}

/** null = no answer from ZooKeeper. */
export const readOldTree = (session: Session): Promise<OldTree | null> => orNull(() => new Reader(session).oldTree());
export const readTarget = (session: Session): Promise<TargetFacts | null> => orNull(() => new Reader(session).target());

/** A node with what stands below it. */
interface Seen {
  readonly path: string;
  readonly node: Node;
  readonly children: ReadonlyMap<string, Node>;
}

class Reader {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  async oldTree(): Promise<OldTree> {
    const sessionsOwn: string[] = [];
    const lockOf = ({ path, children }: Seen): OldNode | null => {
      const lock = children.get(LOCK);
      if (lock === undefined) return null;
      if (lock.stat.ephemeralOwner === 0n) return plain(lock);
      sessionsOwn.push(`${path}/${LOCK}`);
      return null;
    };
    const listed = await this.#listings();
    const uuids = await this.#uuids();
    const jobs: OldJob[] = [];
    for await (const seen of this.#each(paths.jobs, parseJobId)) {
      const places = listed.jobs.get(seen.id) ?? { entries: [], buckets: [] };
      jobs.push({
        id: seen.id,
        czxid: seen.node.stat.czxid,
        nodes: withoutLock(seen),
        deadLock: lockOf(seen),
        ...places,
      });
    }
    const batches: OldBatch[] = [];
    for await (const seen of this.#each(paths.batches, parseBatchId)) {
      batches.push({
        id: seen.id,
        czxid: seen.node.stat.czxid,
        nodes: withoutLock(seen),
        deadLock: lockOf(seen),
        buckets: listed.buckets.get(seen.id) ?? new Set(),
        hasStates: seen.children.has("states"),
        uuids: uuids.get(seen.id) ?? [],
      });
    }
    const deadLocks: { path: string; version: number }[] = [];
    for (const directory of OBJECT_LOCKS) {
      for (const { path, node } of await this.#nodesIn(directory)) {
        if (node.stat.ephemeralOwner === 0n) deadLocks.push({ path, version: node.stat.version });
        else sessionsOwn.push(path);
      }
    }
    const holds = [...(await this.#nodesIn(paths.queueLocks)), ...(await this.#nodesIn(paths.collectionLocks))];
    return {
      batches,
      jobs,
      knowsStoring: listed.knowsStoring,
      holds: holds.map(({ path, node }) => ({ path, data: node.data })),
      deadLocks,
      sessionsOwn,
      nextBatch: await this.#next(paths.batches),
      nextJob: await this.#next(paths.jobs),
      others: (await this.#names("/")).filter((name) => !QUEUE_PARTS.has(name)),
    };
  }

  async target(): Promise<TargetFacts> {
    const takenJobs = new Set(ids(await this.#names(paths.jobs), parseJobId));
    const ours = ids(await this.#names(paths.fleetJobs), parseJobId);
    const jobs = new Map<JobId, string>();
    for (const [id, node] of await this.#get(ours, paths.fleetJob)) {
      const history = records.fleetJob.decode(node.data);
      jobs.set(id, history.ok ? (history.value.events[0]?.[0] ?? "") : "");
    }
    const batches = await this.#targetBatches();
    const takenBatches = new Map<BatchId, string>();
    const there = ids(await this.#names(paths.batches), parseBatchId);
    for (const id of there) takenBatches.set(id, "");
    for (const [id, node] of await this.#get(there, paths.batchSubmission)) {
      const submission = records.submission.decode(node.data);
      takenBatches.set(id, submission.ok ? (submission.value.batchID ?? "") : "");
    }
    const jobNames = new Set(await this.#names(paths.jobUuids));
    return { jobs, jobNames, takenJobs, batches, takenBatches };
  }

  async #targetBatches(): Promise<ReadonlyMap<BatchId, TargetBatch>> {
    const expanded = new Set(ids(await this.#names(paths.expansions), parseBatchId));
    const due = new Set(ids(await this.#names(paths.dueBatches), parseBatchId));
    const entries = new Map<BatchId, { state: BatchState; version: number }[]>();
    for (const id of [...expanded, ...due]) entries.set(id, []);
    for (const state of BATCH_STATES) {
      const listed = ids(await this.#names(paths.fleetBatchQueue(state)), parseBatchId);
      for (const [id, { stat }] of await this.#get(listed, (each) => paths.fleetBatch(state, each))) {
        entries.set(id, [...(entries.get(id) ?? []), { state, version: stat.version }]);
      }
    }
    const all = [...entries].map(([id, listed]): [BatchId, TargetBatch] => [
      id,
      { entries: listed, isExpanded: expanded.has(id), isDue: due.has(id) },
    ]);
    return new Map(all);
  }

  async #listings() {
    const jobs = new Map<JobId, { entries: string[]; buckets: { batch: BatchId; bucket: Bucket }[] }>();
    const of = (id: JobId) => {
      const known = jobs.get(id) ?? { entries: [], buckets: [] };
      jobs.set(id, known);
      return known;
    };
    const states = await this.#names(paths.jobStates);
    for (const state of states) {
      for (const name of await this.#names(`${paths.jobStates}/${state}`)) {
        const entry = parseQueueEntry(name);
        if (entry !== null) of(entry.id).entries.push(`${paths.jobStates}/${state}/${name}`);
      }
    }
    const buckets = new Map<BatchId, Set<Bucket>>();
    for (const batch of ids(await this.#names(paths.batches), parseBatchId)) {
      const there = new Set(await this.#names(paths.batchStates(batch)));
      const known = BUCKETS.filter((bucket) => there.has(bucket));
      buckets.set(batch, new Set(known));
      for (const bucket of known) {
        for (const id of ids(await this.#names(paths.bucket(batch, bucket)), parseJobId)) {
          of(id).buckets.push({ batch, bucket });
        }
      }
    }
    return { jobs, buckets, knowsStoring: states.includes("storing") };
  }

  async #uuids(): Promise<Map<BatchId, string[]>> {
    const found = new Map<BatchId, string[]>();
    for (const { path, node } of await this.#nodesIn(paths.batchUuids)) {
      const id = parseBatchId(node.data.toString("utf8").trim());
      if (id !== null) found.set(id, [...(found.get(id) ?? []), path.slice(paths.batchUuids.length + 1)]);
    }
    return found;
  }

  /** Each numbered node of a directory with what stands below it. */
  async *#each<Id extends string>(directory: string, parse: (raw: string) => Id | null) {
    const all = ids(await this.#names(directory), parse).sort();
    for (let i = 0; i < all.length; i += PAGE) {
      const page = all.slice(i, i + PAGE);
      const tops = await this.#read(
        page.flatMap((id): Read[] => [{ get: `${directory}/${id}` }, { children: `${directory}/${id}` }]),
      );
      const below = page.flatMap((id, k) => {
        const names = tops[2 * k + 1];
        return names?.kind === "children" ? names.names.map((name) => ({ id, name })) : [];
      });
      const nodes = await this.#read(below.map(({ id, name }) => ({ get: `${directory}/${id}/${name}` })));
      for (const [k, id] of page.entries()) {
        const top = tops[2 * k];
        if (top?.kind !== "node") continue;
        const children = new Map<string, Node>();
        for (const [n, child] of below.entries()) {
          const answer = nodes[n];
          if (child.id === id && answer?.kind === "node") children.set(child.name, answer.node);
        }
        yield { id, path: `${directory}/${id}`, node: top.node, children };
      }
    }
  }

  async #get<Id extends string>(all: readonly Id[], pathOf: (id: Id) => string): Promise<[Id, Node][]> {
    const found: [Id, Node][] = [];
    for (let i = 0; i < all.length; i += PAGE) {
      const page = all.slice(i, i + PAGE);
      const answers = await this.#read(page.map((id) => ({ get: pathOf(id) })));
      for (const [k, id] of page.entries()) {
        const answer = answers[k];
        if (answer?.kind === "node") found.push([id, answer.node]);
      }
    }
    return found;
  }

  async #nodesIn(directory: string): Promise<{ path: string; node: Node }[]> {
    const found = await this.#get(await this.#names(directory), (name) => `${directory}/${name}`);
    return found.map(([name, node]) => ({ path: `${directory}/${name}`, node }));
  }

  /** The libraries number by the parent's cversion: past that, and past what is there, nobody has been. */
  async #next(directory: string): Promise<number> {
    const answer = await this.#session.children(directory);
    if (!answer.ok && answer.code !== "NO_NODE") throw new NoAnswer();
    if (!answer.ok) return 1;
    const numbers = answer.value.names.map((name) => Number(name.slice(3))).filter(Number.isInteger);
    return numbers.reduce((most, n) => Math.max(most, n), answer.value.stat.cversion) + 1;
  }

  /** A directory that is not there is empty: the libraries make them when they need them. */
  async #names(path: string): Promise<readonly string[]> {
    const answer = await this.#session.children(path);
    if (answer.ok) return answer.value.names;
    if (answer.code === "NO_NODE") return [];
    throw new NoAnswer();
  }

  async #read(reads: readonly Read[]): Promise<readonly ReadAnswer[]> {
    if (reads.length === 0) return [];
    const answers = await this.#session.readMany(reads);
    if (!answers.ok) throw new NoAnswer();
    return answers.value;
  }
}

const plain = ({ data, stat }: Node): OldNode => ({ data, version: stat.version });

function withoutLock({ children }: Seen): Map<string, OldNode> {
  const kept = [...children].filter(([name]) => name !== LOCK && name !== "states");
  return new Map(kept.map(([name, node]) => [name, plain(node)]));
}

const ids = <Id extends string>(names: readonly string[], parse: (raw: string) => Id | null): Id[] =>
  names.map(parse).filter((id) => id !== null);
