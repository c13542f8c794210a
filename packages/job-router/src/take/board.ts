/** Which types could run now, in every shard: of our own shards by a look, of the others by what their owners tell. */
import { Ring, type TenantUsage, type TurnsAsked, typeKey, type WaitingType } from "@sluice/job-queue";

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

/** The types of one tenant. */
interface Turns {
  readonly ring: Ring<WaitingType>;
  /** As they were told, whoever is due longest first. */
  readonly oldest: WaitingType[];
}

interface Known extends Omit<Told, "types"> {
  readonly types: Map<string, WaitingType>;
  readonly turns: ReadonlyMap<string, Turns>;
}

export class Board {
  readonly #told = new Map<number, Known>();
  readonly #empty = new Map<string, number>();
  readonly #promised = new Map<string, number>();

  tell(shard: number, told: Told): void {
    if (told.types.length === 0) this.#told.delete(shard);
    else this.#told.set(shard, { ...told, ...inTurns(told.types) });
    for (const key of [...this.#empty.keys()]) if (key.startsWith(`${shard}/`)) this.#empty.delete(key);
  }

  forget(peerId: string): void {
    for (const [shard, told] of [...this.#told]) if (told.peerId === peerId) this.#told.delete(shard);
  }

  /** Of what this owner said of its shard in this term, the first so many of each tenant that are wanted. */
  turns(
    shard: number,
    { apiId, term }: { readonly apiId: string; readonly term: number },
    { most, isWanted, agedBefore }: TurnsAsked,
  ): readonly WaitingType[] {
    const known = this.#told.get(shard);
    if (known?.peerId !== apiId || known.term !== term) return [];
    const found: WaitingType[] = [];
    for (const turns of known.turns.values()) {
      const ofTenant = new Map<string, WaitingType>();
      for (const type of inOrder(known.types, turns, agedBefore)) {
        if (isWanted(type)) ofTenant.set(type.name, type);
        if (ofTenant.size >= most) break;
      }
      for (const type of ofTenant.values()) found.push(type);
    }
    return found;
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
    const known = this.#told.get(shard);
    const type = known?.types.get(typeKey(tenant, name));
    if (known === undefined || type === undefined) return;
    const ring = known.turns.get(tenant)?.ring;
    ring?.remove(type.priority, name);
    known.types.delete(typeKey(tenant, name));
    if (type.count <= count) return;
    const left = { ...type, count: type.count - count };
    known.types.set(typeKey(tenant, name), left);
    ring?.set(type.priority, name, left);
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

function inTurns(told: readonly WaitingType[]): Pick<Known, "types" | "turns"> {
  const types = new Map<string, WaitingType>();
  const turns = new Map<string, Turns>();
  for (const type of told) {
    const { tenant, name, priority } = type;
    let ofTenant = turns.get(tenant);
    if (ofTenant === undefined) turns.set(tenant, (ofTenant = { ring: new Ring(), oldest: [] }));
    ofTenant.ring.set(priority, name, type);
    ofTenant.oldest.push(type);
    types.set(typeKey(tenant, name), type);
  }
  for (const { oldest } of turns.values()) oldest.sort((a, b) => a.since - b.since);
  return { types, turns };
}

function* inOrder(
  known: ReadonlyMap<string, WaitingType>,
  { ring, oldest }: Turns,
  agedBefore: number,
): Iterable<WaitingType> {
  for (const { tenant, name, since } of oldest) {
    if (since >= agedBefore) break;
    const type = known.get(typeKey(tenant, name));
    if (type !== undefined) yield type;
  }
  yield* ring.all();
}
