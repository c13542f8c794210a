/** The queue's tree as a transaction log tells it: what stands there, and what every node was before. */
import { meaningOf, type Meaning } from "../paths.ts";
import { type Guest, type Ids, type Layout, records, type StoredJob } from "../records.ts";

/** One op of a logged transaction. The version of a set is the new one. */
export type LoggedOp =
  | { readonly op: "create"; readonly path: string; readonly data: Buffer }
  | { readonly op: "set"; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly op: "delete" | "check"; readonly path: string };

export interface LoggedTransaction {
  readonly zxid: bigint;
  readonly timeMs: number;
  readonly kind: string;
  readonly ops: readonly LoggedOp[];
}

export interface ShardModel {
  readonly jobs: Map<number, StoredJob>;
  readonly data: Set<number>;
  readonly blocks: Map<number, number>;
  readonly terms: Set<number>;
  readonly counters: Map<number, number>;
  readonly groups: Set<string>;
  readonly children: Map<number, Set<number>>;
  /** By tenant, world and name. */
  readonly named: Map<string, Set<number>>;
  /** Tokens that are on a record now, and those that never may be again. */
  readonly tokens: Map<string, number>;
  readonly spent: Set<string>;
  readonly gone: Set<number>;
  /** JOB-TOKEN of every entry of the archive that ever was. */
  readonly archived: Set<string>;
  readonly guests: Map<string, Guest>;
  ids: Ids;
  /** Of a restore. */
  floor: number;
}

const newShard = (): ShardModel => ({
  jobs: new Map(),
  data: new Set(),
  blocks: new Map(),
  terms: new Set(),
  counters: new Map(),
  groups: new Set(),
  children: new Map(),
  named: new Map(),
  tokens: new Map(),
  spent: new Set(),
  gone: new Set(),
  archived: new Set(),
  guests: new Map(),
  ids: { next: 0, term: 0 },
  floor: 0,
});

export const nameKey = ({ tenant, name, mock }: StoredJob): string => `${mock === true ? "m" : "r"}/${tenant}/${name}`;

/** A change of one job: null before it was made and after it is deleted. */
export interface JobStep {
  readonly id: number;
  readonly block: number;
  readonly before: StoredJob | null;
  readonly after: StoredJob | null;
  readonly bytes: number;
}

export type Applied =
  | { readonly kind: "other"; readonly meaning: Meaning }
  | { readonly kind: "broken"; readonly what: string; readonly problem: string }
  | { readonly kind: "job"; readonly number: number; readonly step: JobStep };

const DELETED = { ok: false, problem: "deleted" } as const;

export class TreeModel {
  readonly shards = new Map<number, ShardModel>();
  layout: Layout["tenants"] = {};

  shard(number: number): ShardModel {
    let shard = this.shards.get(number);
    if (shard === undefined) this.shards.set(number, (shard = newShard()));
    return shard;
  }

  apply(op: LoggedOp): Applied {
    const meaning = meaningOf(op.path);
    if (op.op === "check") return { kind: "other", meaning };
    if (meaning.kind === "job") return this.#job(meaning.shard, meaning, op);
    if (meaning.kind === "ids") return this.#ids(meaning, op);
    if (meaning.kind === "layout") return this.#layout(meaning, op);
    if (meaning.kind === "guest") return this.#guest(meaning, op);
    if (meaning.kind === "restored") return this.#restored(meaning, op);
    this.#node(meaning, op);
    return { kind: "other", meaning };
  }

  #ids(meaning: Meaning & { readonly shard: number }, op: LoggedOp): Applied {
    const ids = "data" in op ? records.ids.decode(op.data) : DELETED;
    if (!ids.ok) return { kind: "broken", what: op.path, problem: ids.problem };
    this.shard(meaning.shard).ids = ids.value;
    return { kind: "other", meaning };
  }

  #guest(meaning: Meaning & { readonly shard: number; readonly name: string }, op: LoggedOp): Applied {
    const { guests } = this.shard(meaning.shard);
    const guest = "data" in op ? records.guest.decode(op.data) : null;
    if (guest?.ok === false) return { kind: "broken", what: op.path, problem: guest.problem };
    if (guest === null) guests.delete(meaning.name);
    else guests.set(meaning.name, guest.value);
    return { kind: "other", meaning };
  }

  #restored(meaning: Meaning & { readonly shard: number }, op: LoggedOp): Applied {
    const restored = "data" in op ? records.restored.decode(op.data) : DELETED;
    if (!restored.ok) return { kind: "broken", what: op.path, problem: restored.problem };
    this.shard(meaning.shard).floor = restored.value.floor;
    return { kind: "other", meaning };
  }

  #layout(meaning: Meaning, op: LoggedOp): Applied {
    const layout = "data" in op ? records.layout.decode(op.data) : DELETED;
    if (!layout.ok) return { kind: "broken", what: op.path, problem: layout.problem };
    this.layout = layout.value.tenants;
    return { kind: "other", meaning };
  }

  #node(meaning: Meaning, op: LoggedOp): void {
    const there = op.op !== "delete";
    const put = <T>(set: Set<T>, item: T): unknown => (there ? set.add(item) : set.delete(item));
    if (meaning.kind === "term") put(this.shard(meaning.shard).terms, meaning.term);
    if (meaning.kind === "data") put(this.shard(meaning.shard).data, meaning.id);
    if (meaning.kind === "group") put(this.shard(meaning.shard).groups, meaning.group);
    if (meaning.kind === "block") {
      if (there) this.shard(meaning.shard).blocks.set(meaning.block, 0);
      else this.shard(meaning.shard).blocks.delete(meaning.block);
    }
    if (meaning.kind === "counter") {
      if (there) this.shard(meaning.shard).counters.set(meaning.term, op.op === "set" ? op.version : 0);
      else this.shard(meaning.shard).counters.delete(meaning.term);
    }
  }

  #job(number: number, { id, block }: { readonly id: number; readonly block: number }, op: LoggedOp): Applied {
    const shard = this.shard(number);
    const before = shard.jobs.get(id) ?? null;
    const decoded = "data" in op ? records.job.decode(op.data) : null;
    if (decoded?.ok === false) return { kind: "broken", what: `job ${id}`, problem: decoded.problem };
    const after = decoded?.value ?? null;
    if (before !== null) forget(shard, id, before, after);
    if (after !== null) remember(shard, id, after);
    else shard.gone.add(id);
    const change = (after === null ? 0 : 1) - (before === null ? 0 : 1);
    shard.blocks.set(block, (shard.blocks.get(block) ?? 0) + change);
    return { kind: "job", number, step: { id, block, before, after, bytes: "data" in op ? op.data.length : 0 } };
  }
}

function forget(shard: ShardModel, id: number, before: StoredJob, after: StoredJob | null): void {
  shard.jobs.delete(id);
  if (before.parent !== undefined) shard.children.get(before.parent)?.delete(id);
  shard.named.get(nameKey(before))?.delete(id);
  const token = before.lease?.token;
  if (token === undefined || token === after?.lease?.token) return;
  shard.tokens.delete(token);
  shard.spent.add(token);
}

function remember(shard: ShardModel, id: number, job: StoredJob): void {
  shard.jobs.set(id, job);
  if (job.parent !== undefined) shard.children.set(job.parent, (shard.children.get(job.parent) ?? new Set()).add(id));
  shard.named.set(nameKey(job), (shard.named.get(nameKey(job)) ?? new Set()).add(id));
}
