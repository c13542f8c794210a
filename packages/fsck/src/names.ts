/** One walk over the directories: which jobs and batches are named where. Names only, so that 100,000 jobs fit easily. */
import {
  BATCH_STATES,
  type BatchId,
  type Bucket,
  BUCKETS,
  JOB_STATES,
  type JobId,
  parseBatchId,
  parseCallbackName,
  parseJobId,
  parseQueueEntry,
  paths,
  QUEUE_ENTRIES_MAX,
  records,
} from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import type { Place, Suspicion } from "./facts.ts";
import { factOf } from "./read-job.ts";

export interface JobNames {
  entries: Place[];
  buckets: { batch: BatchId; bucket: Bucket }[];
  callbacks: number[];
}

export interface Names {
  readonly jobs: ReadonlyMap<JobId, JobNames>;
  /** With the UUIDs that name them. */
  readonly batches: ReadonlyMap<BatchId, readonly string[]>;
  readonly sessions: ReadonlySet<bigint>;
  readonly suspicions: readonly Suspicion[];
}

/** NodeDump's list, and ours. */
const TOP = new Set(["access", "batch-uuids", "batches", "jobs", "locks", "migration", "fleet", "zookeeper"]);
const PAGE = 500;

/** Ends the walk from wherever it is; never leaves this file. */
class NoAnswer extends Error {}

/** null = no answer from ZooKeeper. */
export async function readNames(session: Session): Promise<Names | null> {
  try {
    return await new Walk(session).run();
  } catch (error) {
    if (error instanceof NoAnswer) return null;
    throw error;
  }
}

class Walk {
  readonly #session: Session;
  readonly #jobs = new Map<JobId, JobNames>();
  readonly #batches = new Map<BatchId, string[]>();
  readonly #suspicions: Suspicion[] = [];

  constructor(session: Session) {
    this.#session = session;
  }

  async run(): Promise<Names> {
    for (const name of await this.#list("/")) if (!TOP.has(name)) this.#stranger(`/${name}`);
    await this.#walkJobs();
    await this.#walkBatches();
    await this.#walkFleet();
    const sessions = await registeredSessions(this.#session);
    if (sessions === null) throw new NoAnswer();
    return { jobs: this.#jobs, batches: this.#batches, sessions, suspicions: this.#suspicions };
  }

  async #walkJobs(): Promise<void> {
    for (const name of await this.#list(paths.jobs)) {
      const id = parseJobId(name);
      if (id !== null) this.#job(id);
      else if (name !== "states") this.#stranger(`${paths.jobs}/${name}`);
    }
    for (const state of JOB_STATES) {
      const names = await this.#list(paths.queue(state));
      for (const name of names) {
        const entry = parseQueueEntry(name);
        if (entry === null) this.#stranger(`${paths.queue(state)}/${name}`);
        else this.#job(entry.id).entries.push({ state, priority: entry.priority });
      }
      if (names.length < QUEUE_ENTRIES_MAX) continue;
      const human = "add workers to the stage, or hold collections until it has worked off its queue";
      const what = `${names.length} entries`;
      this.#suspicions.push({ rule: "I-38", path: paths.queue(state), what, sinceMs: null, mend: { human } });
    }
  }

  async #walkBatches(): Promise<void> {
    for (const name of await this.#list(paths.batches)) {
      const batch = parseBatchId(name);
      if (batch === null) {
        this.#stranger(`${paths.batches}/${name}`);
        continue;
      }
      this.#batch(batch);
      for (const bucket of BUCKETS) {
        for (const job of await this.#list(paths.bucket(batch, bucket))) {
          const id = parseJobId(job);
          if (id === null) this.#stranger(`${paths.bucket(batch, bucket)}/${job}`);
          else this.#job(id).buckets.push({ batch, bucket });
        }
      }
    }
    const uuids = await this.#list(paths.batchUuids);
    for (let i = 0; i < uuids.length; i += PAGE) {
      const page = uuids.slice(i, i + PAGE);
      const answers = await this.#session.readMany(page.map((uuid) => ({ get: `${paths.batchUuids}/${uuid}` })));
      if (!answers.ok) throw new NoAnswer();
      for (const [k, uuid] of page.entries()) {
        const answer = answers.value[k];
        const batch = answer?.kind === "node" ? factOf(records.bid, answer.node)?.value : undefined;
        if (batch != null) this.#batch(batch).push(uuid);
        else if (answer?.kind === "node") this.#stranger(`${paths.batchUuids}/${uuid}`);
      }
    }
  }

  async #walkFleet(): Promise<void> {
    for (const name of await this.#list(paths.fleetJobs)) {
      const id = parseJobId(name);
      if (id === null) this.#stranger(`${paths.fleetJobs}/${name}`);
      else this.#job(id);
    }
    for (const name of await this.#list(paths.callbacks)) {
      const callback = parseCallbackName(name);
      if (callback !== null) this.#job(callback.id).callbacks.push(callback.retry);
      else this.#stranger(`${paths.callbacks}/${name}`);
    }
    const indexes = [paths.expansions, paths.dueBatches, paths.reports, ...BATCH_STATES.map(paths.fleetBatchQueue)];
    for (const directory of indexes) {
      for (const name of await this.#list(directory)) {
        const id = parseBatchId(name);
        if (id !== null) this.#batch(id);
        else this.#stranger(`${directory}/${name}`);
      }
    }
  }

  /** A directory that is not there is empty: whether it should be there is another rule's business. */
  async #list(path: string): Promise<readonly string[]> {
    const answer = await this.#session.children(path);
    if (answer.ok) return answer.value.names;
    if (answer.code === "NO_NODE") return [];
    throw new NoAnswer();
  }

  #job(id: JobId): JobNames {
    const known = this.#jobs.get(id);
    if (known !== undefined) return known;
    const made: JobNames = { entries: [], buckets: [], callbacks: [] };
    this.#jobs.set(id, made);
    return made;
  }

  #batch(id: BatchId): string[] {
    const known = this.#batches.get(id);
    if (known !== undefined) return known;
    const made: string[] = [];
    this.#batches.set(id, made);
    return made;
  }

  #stranger(path: string): void {
    const human = "nobody here makes such a node: find out who did, then remove it by hand";
    this.#suspicions.push({ rule: "NAMES", path, what: "is not known here", sinceMs: null, mend: { human } });
  }
}

/** Sessions that have registered a worker; null = no answer. */
export async function registeredSessions(session: Session): Promise<ReadonlySet<bigint> | null> {
  const sessions = new Set<bigint>();
  const listed = await session.children(paths.workers);
  if (!listed.ok && listed.code !== "NO_NODE") return null;
  for (const stage of listed.ok ? listed.value.names : []) {
    const workers = await session.children(paths.stageWorkers(stage));
    if (!workers.ok && workers.code !== "NO_NODE") return null;
    const all = workers.ok ? workers.value.names : [];
    const answers =
      all.length === 0 ? null : await session.readMany(all.map((id) => ({ get: paths.worker(stage, id) })));
    if (answers?.ok === false) return null;
    for (const answer of answers?.value ?? []) {
      if (answer.kind === "node") sessions.add(answer.node.stat.ephemeralOwner);
    }
  }
  return sessions;
}
