/** Everything of a shard, read by its new owner. No write of an older term can come after the takeover that it has seen. */
import type { Node, Read, ReadAnswer, Session } from "@sluice/zookeeper";
import { parseJobId } from "../ids.ts";
import { paths } from "../paths.ts";
import { type Crashed, type Guest, type Job, records, type Restored, type StoredJob } from "../records.ts";
import { NO_DATA } from "../shard/data.ts";
import type { Loaded } from "../shard/shard.ts";
import { DoneIndex } from "./done-index.ts";
import { type Salvaged, salvage, type Unreadable } from "./salvage.ts";
import type { Term } from "./term.ts";
import { EMPTY } from "./tree.ts";

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
  /** What else could not be read, in words; jobs are in `loaded`. */
  readonly problems: readonly string[];
}

export type Loading = { readonly ok: true; readonly tree: Tree } | { readonly ok: false; readonly why: string };

const READS_AT_ONCE = 200;
const REQUESTS_IN_FLIGHT = 8;

/** A frame that is not as it must be, or a server that does not answer: the shard cannot be served. */
class NotLoaded extends Error {}

export async function loadShard(session: Session, term: Term): Promise<Loading> {
  try {
    return { ok: true, tree: await new Loader(session, term).load() };
  } catch (error) {
    if (error instanceof NotLoaded) return { ok: false, why: error.message };
    throw error;
  }
}

/** A job whose data stands in a node of its own. */
interface Apart {
  readonly id: number;
  readonly job: Omit<StoredJob, "data">;
  readonly bytes: Buffer;
}

interface FoundGuest {
  /** Null: it cannot be read. */
  readonly guest: Guest | null;
  readonly version: number;
}

/** As most records are: nothing needs to be put together. */
const hasData = (record: StoredJob): record is StoredJob & Job => record.data !== undefined;

class Loader {
  readonly #session: Session;
  readonly #term: Term;
  readonly #jobs = new Map<number, Job>();
  readonly #versions = new Map<number, NodeVersions>();
  readonly #unreadable = new Map<number, Unreadable>();
  readonly #problems: string[] = [];

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
    done.load(new Map(hours.map((hour, n) => [hour, entries[n] ?? []])));
    const guests = await this.#readGuests();
    const crashed = await this.#readCrashed();
    const restored = await this.#readRestored();
    const loaded: Loaded = {
      shard,
      term,
      ids,
      jobs: this.#jobs,
      versions: this.#versions,
      blocks: blocks.map(Number),
      marks: new Set(groups),
      ended: done.tokens(),
      guests: new Map([...(guests ?? [])].flatMap(([name, { guest }]) => (guest === null ? [] : [[name, guest]]))),
      brokenGuests: new Set([...(guests ?? [])].flatMap(([name, { guest }]) => (guest === null ? name : []))),
      crashed: crashed?.value ?? {},
      unreadable: this.#unreadable,
      ...(restored && { floor: restored.floor }),
    };
    return {
      loaded,
      versions: this.#versions,
      done,
      guests: guests && new Map([...guests].map(([name, { version }]) => [name, version])),
      crashed: crashed?.version ?? null,
      counters: await this.#oldCounters(counters.map(Number)),
      problems: this.#problems,
    };
  }

  /** Null: the tree was not made from a snapshot, or by a version that did not say so. */
  async #readRestored(): Promise<Restored | null> {
    const node = await this.#session.get(paths.restored(this.#term.shard));
    if (!node.ok && node.code === "NO_NODE") return null;
    if (!node.ok) throw new NotLoaded(`${node.code}: ${node.detail}`);
    const restored = records.restored.decode(node.value.data);
    if (restored.ok) return restored.value;
    // Journals whose blocks were given before the restore are not known then, and their lines wait.
    this.#problems.push(restored.problem);
    return null;
  }

  /** Null: no process has ever kept a journal for this shard. */
  async #readGuests(): Promise<ReadonlyMap<string, FoundGuest> | null> {
    const { shard } = this.#term;
    const listed = await this.#session.children(paths.guests(shard));
    if (!listed.ok && listed.code === "NO_NODE") return null;
    if (!listed.ok) throw new NotLoaded(`${listed.code}: ${listed.detail}`);
    const { names } = listed.value;
    const guests = new Map<string, FoundGuest>();
    await this.#read(
      names.map((name) => ({ get: paths.guest(shard, name) })),
      (answer, n) => {
        const name = names[n] ?? "";
        if (answer.kind !== "node") throw new NotLoaded(`journal ${name}: ${answer.kind}`);
        const guest = records.guest.decode(answer.node.data);
        // Nobody can tell how far it was taken in: it is told so, and its lines wait.
        if (!guest.ok) this.#problems.push(`journal ${name}: ${guest.problem}`);
        guests.set(name, { guest: guest.ok ? guest.value : null, version: answer.node.stat.version });
      },
    );
    return guests;
  }

  async #readCrashed(): Promise<{ readonly value: Crashed; readonly version: number } | null> {
    const node = await this.#session.get(paths.crashed(this.#term.shard));
    if (!node.ok && node.code === "NO_NODE") return null;
    if (!node.ok) throw new NotLoaded(`${node.code}: ${node.detail}`);
    const crashed = records.crashed.decode(node.value.data);
    if (!crashed.ok) this.#problems.push(`types that crash: ${crashed.problem}`);
    return { value: crashed.ok ? crashed.value : {}, version: node.value.stat.version };
  }

  async #readJobs(ids: readonly number[]): Promise<void> {
    const apart: Apart[] = [];
    await this.#read(
      ids.map((id) => ({ get: paths.job(id) })),
      (answer, n) => {
        const id = ids[n] ?? 0;
        if (answer.kind !== "node") throw new NotLoaded(`job ${id}: ${answer.kind}`);
        const { data, stat } = answer.node;
        const record = records.job.decode(data);
        const text = record.ok ? (record.value.data ?? "") : "";
        this.#versions.set(id, { record: stat.version, data: null, text });
        if (record.ok && hasData(record.value)) this.#jobs.set(id, record.value);
        else if (record.ok && record.value.dataNode === true) apart.push({ id, job: record.value, bytes: data });
        else {
          const problem = record.ok ? "job.data: there is none" : record.problem;
          this.#setAside(id, salvage(id, data, problem), stat.numChildren > 0 ? apart : null);
        }
      },
    );
    await this.#read(
      apart.map(({ id }) => ({ get: paths.data(id) })),
      (answer, n) => {
        const each = apart[n];
        if (each === undefined) return;
        if (answer.kind === "node") this.#join(each, answer.node);
        else this.#setAside(each.id, salvage(each.id, each.bytes, `job.data: its node is ${answer.kind}`), null);
      },
    );
  }

  #join({ id, job: record }: Apart, { data, stat }: Node): void {
    const { dataNode: _, ...job } = record;
    const text = data.toString("utf8");
    this.#versions.set(id, { record: this.#versions.get(id)?.record ?? 0, data: stat.version, text });
    this.#jobs.set(id, { ...job, data: text });
  }

  /** `apart`: something stands below it, whatever its record says. It is its data, and goes with it. */
  #setAside(id: number, { job, unreadable }: Salvaged, apart: Apart[] | null): void {
    if (!this.#unreadable.has(id)) this.#unreadable.set(id, unreadable);
    this.#jobs.set(id, { ...job, data: job.data ?? NO_DATA.text });
    apart?.push({ id, job, bytes: EMPTY });
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
        if (answer.kind !== "children") throw new NotLoaded(`${of[n] ?? ""}: ${answer.kind}`);
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
        if (!answer.ok) throw new NotLoaded(`${answer.code}: ${answer.detail}`);
        answer.value.forEach((each, n) => take(each, from + n));
      }
    };
    await Promise.all(Array.from({ length: REQUESTS_IN_FLIGHT }, worker));
  }
}
