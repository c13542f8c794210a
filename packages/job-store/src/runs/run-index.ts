/** Where the runs of a segment stand: by job, by tenant, and by tenant and type. Here in memory; on disk in index-file.ts. */
import type { EndedRun } from "@sluice/job-queue";

/** Runs of a tenant; of some of its types, or of all. */
export type Key =
  { readonly kind: "tenant"; readonly hash: number } | { readonly kind: "names"; readonly hashes: ReadonlySet<number> };

export interface SegmentFacts {
  readonly count: number;
  /** So much of the segment is indexed. */
  readonly bytes: number;
  readonly minId: number;
  readonly maxId: number;
  readonly maxEnded: number;
}

export interface RunPlaces {
  readonly facts: SegmentFacts;
  /** Offsets of a job's runs, the last one first. */
  ofJob(id: number, most: number): Promise<readonly number[]>;
  /** Offsets of the runs before this one, the last one first. Some may be of other types: their names are hashed. */
  before(offset: number, key: Key, most: number): Promise<readonly number[]>;
}

const HASH_VALUES = 2 ** 24;

/** FNV-1a, as many bits as leave room for an offset in a number. */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193);
  return (hash >>> 0) % HASH_VALUES;
}

export const tenantHash = (tenant: string): number => hashOf(tenant);
export const typeHash = (tenant: string, name: string): number => hashOf(`${tenant}/${name}`);

export const keyOf = (tenant: string, names: readonly string[] | null): Key =>
  names === null
    ? { kind: "tenant", hash: tenantHash(tenant) }
    : { kind: "names", hashes: new Set(names.map((name) => typeHash(tenant, name))) };

export class RunIndex implements RunPlaces {
  readonly ids: number[] = [];
  readonly offsets: number[] = [];
  readonly tenants: number[] = [];
  readonly types: number[] = [];
  bytes = 0;
  #minId = Infinity;
  #maxId = 0;
  #maxEnded = -Infinity;

  get facts(): SegmentFacts {
    const { ids, bytes } = this;
    return { count: ids.length, bytes, minId: this.#minId, maxId: this.#maxId, maxEnded: this.#maxEnded };
  }

  add(
    { id, done }: { readonly id: number; readonly done: Pick<EndedRun["done"], "tenant" | "name" | "ended"> },
    offset: number,
  ): void {
    this.ids.push(id);
    this.offsets.push(offset);
    this.tenants.push(tenantHash(done.tenant));
    this.types.push(typeHash(done.tenant, done.name));
    this.#minId = Math.min(this.#minId, id);
    this.#maxId = Math.max(this.#maxId, id);
    this.#maxEnded = Math.max(this.#maxEnded, done.ended);
  }

  ofJob(id: number, most: number): Promise<readonly number[]> {
    return Promise.resolve(this.#latest(Infinity, most, (n) => this.ids[n] === id));
  }

  before(offset: number, key: Key, most: number): Promise<readonly number[]> {
    const isWanted =
      key.kind === "tenant"
        ? (n: number) => this.tenants[n] === key.hash
        : (n: number) => key.hashes.has(this.types[n] ?? -1);
    return Promise.resolve(this.#latest(offset, most, isWanted));
  }

  #latest(before: number, most: number, isWanted: (n: number) => boolean): readonly number[] {
    const found: number[] = [];
    for (let n = this.offsets.length - 1; n >= 0 && found.length < most; n--) {
      const offset = this.offsets[n] ?? 0;
      if (offset < before && isWanted(n)) found.push(offset);
    }
    return found;
  }
}
