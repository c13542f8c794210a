/** Everything of a shard, read by its new owner. No write of an older term can come after the takeover that it has seen. */
import type { Read, ReadAnswer, Session } from "@sluice/zookeeper";
import { parseJobId } from "../ids.ts";
import { paths } from "../paths.ts";
import { type Crashed, type Guest, type Job, records, type StoredJob } from "../records.ts";
import type { Loaded } from "../shard/shard.ts";
import { DoneIndex } from "./done-index.ts";
import type { Term } from "./term.ts";

/** Versions of a job's two nodes; null: it has no `d`. */
export interface NodeVersions {
  record: number;
  data: number | null;
  /** The data as it was written last. */
  text: string;
}

export interface Tree {
  readonly loaded: Loaded;
  readonly versions: Map<number, NodeVersions>;
  readonly done: DoneIndex;
  /** Versions of the nodes of journals; null: not even their directory is there. */
  readonly guests: Map<string, number> | null;
  /** Version of the list of types that crash; null: there is none. */
  readonly crashed: number | null;
  /** Counters of older terms, with their versions. */
  readonly counters: readonly { readonly term: number; readonly version: number }[];
}

export type Loading = { readonly ok: true; readonly tree: Tree } | { readonly ok: false; readonly why: string };

const READS_AT_ONCE = 200;
const REQUESTS_IN_FLIGHT = 8;

/** What the tree should not hold, or a server that does not answer: the shard cannot be served. */
class Unreadable extends Error {}

export async function loadShard(session: Session, term: Term): Promise<Loading> {
  try {
    return { ok: true, tree: await new Loader(session, term).load() };
  } catch (error) {
    if (error instanceof Unreadable) return { ok: false, why: error.message };
    throw error;
  }
}

/** As most records are: nothing needs to be put together. */
const hasData = (record: StoredJob): record is StoredJob & Job => record.data !== undefined;

class Loader {
  readonly #session: Session;
  readonly #term: Term;
  readonly #jobs = new Map<number, Job>();
  readonly #versions = new Map<number, NodeVersions>();

  constructor(session: Session, term: Term) {
    this.#session = session;
    this.#term = term;
  }

  async load(): Promise<Tree> {
    const { shard, term, ids } = this.#term;
    const [blocks = [], groups = [], hours = [], counters = []] = await this.#children([
      paths.jobs(shard),
      paths.groups(shard),
      paths.done(shard),
      paths.counters(shard),
    ]);
    const names = (await this.#children(blocks.map((block) => paths.block(Number(block))))).flat();
    await this.#readJobs(names.flatMap((name) => parseJobId(name) ?? []));
    const entries = await this.#children(hours.map((hour) => paths.doneDirectory(shard, hour)));
    const done = new DoneIndex();
    hours.forEach((hour, n) => done.load(hour, entries[n] ?? []));
    const guests = await this.#readGuests();
    const crashed = await this.#readCrashed();
    const loaded: Loaded = {
      shard,
      term,
      ids,
      jobs: this.#jobs,
      blocks: blocks.map(Number),
      marks: new Set(groups),
      ended: done.tokens(),
      guests: new Map([...(guests ?? [])].map(([name, { guest }]) => [name, guest])),
      crashed: crashed?.value ?? {},
    };
    return {
      loaded,
      versions: this.#versions,
      done,
      guests: guests && new Map([...guests].map(([name, { version }]) => [name, version])),
      crashed: crashed?.version ?? null,
      counters: await this.#oldCounters(counters.map(Number)),
    };
  }

  /** Null: no process has ever kept a journal for this shard. */
  async #readGuests(): Promise<ReadonlyMap<string, { readonly guest: Guest; readonly version: number }> | null> {
    const { shard } = this.#term;
    const listed = await this.#session.children(paths.guests(shard));
    if (!listed.ok && listed.code === "NO_NODE") return null;
    if (!listed.ok) throw new Unreadable(`${listed.code}: ${listed.detail}`);
    const { names } = listed.value;
    const guests = new Map<string, { readonly guest: Guest; readonly version: number }>();
    await this.#read(
      names.map((name) => ({ get: paths.guest(shard, name) })),
      (answer, n) => {
        const name = names[n] ?? "";
        if (answer.kind !== "node") throw new Unreadable(`journal ${name}: ${answer.kind}`);
        const guest = records.guest.decode(answer.node.data);
        if (!guest.ok) throw new Unreadable(`journal ${name}: ${guest.problem}`);
        guests.set(name, { guest: guest.value, version: answer.node.stat.version });
      },
    );
    return guests;
  }

  async #readCrashed(): Promise<{ readonly value: Crashed; readonly version: number } | null> {
    const node = await this.#session.get(paths.crashed(this.#term.shard));
    if (!node.ok && node.code === "NO_NODE") return null;
    if (!node.ok) throw new Unreadable(`${node.code}: ${node.detail}`);
    const crashed = records.crashed.decode(node.value.data);
    if (!crashed.ok) throw new Unreadable(crashed.problem);
    return { value: crashed.value, version: node.value.stat.version };
  }

  async #readJobs(ids: readonly number[]): Promise<void> {
    const apart: { readonly id: number; readonly job: Omit<Job, "data"> }[] = [];
    await this.#read(
      ids.map((id) => ({ get: paths.job(id) })),
      (answer, n) => {
        const id = ids[n] ?? 0;
        if (answer.kind !== "node") throw new Unreadable(`job ${id}: ${answer.kind}`);
        const record = records.job.decode(answer.node.data);
        if (!record.ok) throw new Unreadable(`job ${id}: ${record.problem}`);
        const { value } = record;
        this.#versions.set(id, { record: answer.node.stat.version, data: null, text: value.data ?? "" });
        if (hasData(value)) this.#jobs.set(id, value);
        else {
          const { dataNode, data: _, ...job } = value;
          if (dataNode !== true) throw new Unreadable(`job ${id}: no data`);
          apart.push({ id, job });
        }
      },
    );
    await this.#read(
      apart.map(({ id }) => ({ get: paths.data(id) })),
      (answer, n) => {
        const { id, job } = apart[n] ?? { id: 0, job: null };
        if (answer.kind !== "node" || job === null) throw new Unreadable(`data of job ${id}: ${answer.kind}`);
        const data = answer.node.data.toString("utf8");
        const versions = this.#versions.get(id);
        if (versions !== undefined) [versions.data, versions.text] = [answer.node.stat.version, data];
        this.#jobs.set(id, { ...job, data });
      },
    );
  }

  async #oldCounters(terms: readonly number[]): Promise<Tree["counters"]> {
    const { shard, term: own } = this.#term;
    const old = terms.filter((term) => term !== own);
    const counters: { readonly term: number; readonly version: number }[] = [];
    await this.#read(
      old.map((term) => ({ get: paths.counter(shard, term) })),
      (answer, n) => {
        if (answer.kind === "node") counters.push({ term: old[n] ?? 0, version: answer.node.stat.version });
      },
    );
    return counters;
  }

  async #children(of: readonly string[]): Promise<readonly (readonly string[])[]> {
    const lists: (readonly string[])[] = [];
    await this.#read(
      of.map((path) => ({ children: path })),
      (answer, n) => {
        if (answer.kind !== "children") throw new Unreadable(`${of[n] ?? ""}: ${answer.kind}`);
        lists[n] = answer.names;
      },
    );
    return lists;
  }

  /** Some at a time, several requests under way; `take` is called once for each. */
  async #read(reads: readonly Read[], take: (answer: ReadAnswer, n: number) => void): Promise<void> {
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < reads.length) {
        const from = next;
        next += READS_AT_ONCE;
        const answer = await this.#session.readMany(reads.slice(from, from + READS_AT_ONCE));
        if (!answer.ok) throw new Unreadable(`${answer.code}: ${answer.detail}`);
        answer.value.forEach((each, n) => take(each, from + n));
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, worker));
  }
}
