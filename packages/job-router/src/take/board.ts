/** Which types could run now, in every shard: of our own shards by a look, of the others by what their owners tell. */
import type { TenantUsage, WaitingType } from "@sluice/job-queue";

export interface Told {
  readonly peerId: string;
  readonly term: number;
  readonly types: readonly WaitingType[];
  /** Of their tenants, as it was at this moment of our clock. */
  readonly usage: ReadonlyMap<string, TenantUsage>;
  readonly atMs: number;
}

/** A type that turned out to be empty is believed again after this long: its owner tells only what has changed. */
export const EMPTY_MS = 400;

const keyOf = (shard: number, tenant: string, name: string): string => `${shard}/${tenant}/${name}`;

export class Board {
  readonly #told = new Map<number, Told>();
  readonly #empty = new Map<string, number>();
  readonly #promised = new Map<string, number>();

  tell(shard: number, told: Told): void {
    if (told.types.length === 0) this.#told.delete(shard);
    else this.#told.set(shard, told);
    for (const key of [...this.#empty.keys()]) if (key.startsWith(`${shard}/`)) this.#empty.delete(key);
  }

  forget(peerId: string): void {
    for (const [shard, told] of [...this.#told]) if (told.peerId === peerId) this.#told.delete(shard);
  }

  /** What this owner said of its shard in this term. */
  told(shard: number, peerId: string, term: number): readonly WaitingType[] {
    const told = this.#told.get(shard);
    return told?.peerId === peerId && told.term === term ? told.types : [];
  }

  /** What its owner said of a tenant's runs, with what those under way have cost since. */
  usageOf(shard: number, tenant: string, now: number): { readonly term: number; readonly usage: TenantUsage } | null {
    const told = this.#told.get(shard);
    const usage = told?.usage.get(tenant);
    if (told === undefined || usage === undefined) return null;
    const runningMs = usage.runningMs + usage.running * Math.max(0, now - told.atMs);
    return { term: told.term, usage: { ...usage, runningMs } };
  }

  /** What we took ourselves need not be told to us. */
  took(shard: number, { tenant, name }: WaitingType, count: number): void {
    const told = this.#told.get(shard);
    if (told === undefined) return;
    const types = told.types.flatMap((type) => {
      if (type.tenant !== tenant || type.name !== name) return [type];
      return type.count > count ? [{ ...type, count: type.count - count }] : [];
    });
    this.#told.set(shard, { ...told, types });
  }

  /** Without what others who take are about to get. */
  left(shard: number, type: WaitingType, now: number): number {
    const key = keyOf(shard, type.tenant, type.name);
    if ((this.#empty.get(key) ?? -Infinity) > now) return 0;
    return type.count - (this.#promised.get(key) ?? 0);
  }

  promise(shard: number, { tenant, name }: WaitingType, count: number): void {
    const key = keyOf(shard, tenant, name);
    const promised = (this.#promised.get(key) ?? 0) + count;
    if (promised <= 0) this.#promised.delete(key);
    else this.#promised.set(key, promised);
  }

  markEmpty(shard: number, { tenant, name }: WaitingType, now: number): void {
    for (const [key, until] of [...this.#empty]) if (until <= now) this.#empty.delete(key);
    this.#empty.set(keyOf(shard, tenant, name), now + EMPTY_MS);
  }

  /** When something that was empty is believed again; null: nothing is. */
  nextBelief(now: number): number | null {
    const moments = [...this.#empty.values()].filter((until) => until > now);
    return moments.length === 0 ? null : moments.reduce((least, each) => Math.min(least, each));
  }
}
