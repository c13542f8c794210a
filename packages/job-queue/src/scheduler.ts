/**
 * Whose turn it is, for who serves several tenants or types: stride scheduling. Each tenant has a pass, the smallest goes
 * next and moves on by 1/weight; inside a tenant the same among its types of the highest priority present. Who returns
 * starts where the others are: nobody saves up turns, and nobody waits more than ceil(sum of weights / own weight) picks.
 */
import type { WaitingType } from "./memory/ready-index.ts";

export interface FairnessOptions {
  /** 1 unless said. */
  readonly tenantWeights?: ReadonlyMap<string, number>;
  /** By TENANT/NAME; 1 unless said. */
  readonly typeWeights?: ReadonlyMap<string, number>;
  /** How many jobs of one tenant may run at once. No bound unless said. */
  readonly perTenant?: number;
}

/** A job that has waited longer goes first inside its tenant, whatever its priority. */
const AGED_MS = 24 * 3_600_000;

export const typeKey = (tenant: string, name: string): string => `${tenant}/${name}`;
const tenantOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** One level: who of those present goes next. */
class Strides {
  readonly #passes = new Map<string, number>();
  readonly #weights: ReadonlyMap<string, number>;
  #present: ReadonlySet<string> = new Set();
  #reached = 0;

  constructor(weights: ReadonlyMap<string, number> = new Map()) {
    this.#weights = weights;
  }

  pick(present: ReadonlySet<string>): string | null {
    const floor = this.#floor(present);
    let next: string | null = null;
    let smallest = Infinity;
    for (const each of present) {
      const pass = this.#present.has(each) ? this.#pass(each) : Math.max(this.#pass(each), floor);
      this.#passes.set(each, pass);
      if (pass < smallest) [next, smallest] = [each, pass];
    }
    this.#present = present;
    if (next === null) return null;
    this.#reached = smallest;
    this.#passes.set(next, smallest + 1 / (this.#weights.get(next) ?? 1));
    this.#forget(present);
    return next;
  }

  /** The smallest pass of those who stayed; with none, where the last turn was. */
  #floor(present: ReadonlySet<string>): number {
    let floor = Infinity;
    for (const each of present) if (this.#present.has(each)) floor = Math.min(floor, this.#pass(each));
    return floor === Infinity ? this.#reached : floor;
  }

  #pass(each: string): number {
    return this.#passes.get(each) ?? 0;
  }

  /** Who is behind would start at the floor anyway: nothing is lost, and names that never return cost nothing. */
  #forget(present: ReadonlySet<string>): void {
    if (this.#passes.size < 2 * present.size + 1000) return;
    for (const [each, pass] of this.#passes) if (!present.has(each) && pass <= this.#reached) this.#passes.delete(each);
  }
}

export class FairScheduler {
  readonly #options: FairnessOptions;
  readonly #tenants: Strides;
  readonly #types = new Map<string, Strides>();
  readonly #running = new Map<string, number>();
  readonly #runningOfTenant = new Map<string, number>();

  constructor(options: FairnessOptions = {}) {
    this.#options = options;
    this.#tenants = new Strides(options.tenantWeights);
  }

  /** The seam of the serverless document: keys are TENANT/NAME; the counts may help a choice and need not. */
  selectJobtypeToRun(types: readonly string[], counts: Readonly<Record<string, number>> = {}): string | null {
    const waiting = types.map((key): WaitingType => {
      const tenant = tenantOf(key);
      return { tenant, name: key.slice(tenant.length + 1), count: counts[key] ?? 1, priority: 0, since: Infinity };
    });
    const picked = this.pick(waiting, 0);
    return picked === null ? null : typeKey(picked.tenant, picked.name);
  }

  pick(waiting: readonly WaitingType[], now: number): WaitingType | null {
    const byTenant = new Map<string, WaitingType[]>();
    for (const type of waiting) {
      if (type.count < 1 || this.#isFull(type.tenant)) continue;
      const known = byTenant.get(type.tenant);
      if (known === undefined) byTenant.set(type.tenant, [type]);
      else known.push(type);
    }
    const tenant = this.#tenants.pick(new Set(byTenant.keys()));
    return tenant === null ? null : this.#pickType(tenant, byTenant.get(tenant) ?? [], now);
  }

  jobsStarted(key: string, count: number): void {
    this.#adjust(key, count);
  }

  jobsStopped(key: string, count: number): void {
    this.#adjust(key, -count);
  }

  running(key: string): number {
    return this.#running.get(key) ?? 0;
  }

  #pickType(tenant: string, types: readonly WaitingType[], now: number): WaitingType | null {
    const aged = types.filter(({ since }) => now - since > AGED_MS);
    const highest = types.reduce((most, { priority }) => Math.max(most, priority), -Infinity);
    const first = aged.length > 0 ? aged : types.filter(({ priority }) => priority === highest);
    let strides = this.#types.get(tenant);
    if (strides === undefined) this.#types.set(tenant, (strides = new Strides(this.#options.typeWeights)));
    const key = strides.pick(new Set(first.map(({ name }) => typeKey(tenant, name))));
    return first.find(({ name }) => typeKey(tenant, name) === key) ?? null;
  }

  #isFull(tenant: string): boolean {
    const { perTenant = Infinity } = this.#options;
    return (this.#runningOfTenant.get(tenant) ?? 0) >= perTenant;
  }

  /** A stop that was told twice must not make room that is not there. */
  #adjust(key: string, by: number): void {
    const before = this.running(key);
    const after = Math.max(0, before + by);
    setOrDrop(this.#running, key, after);
    const tenant = tenantOf(key);
    setOrDrop(this.#runningOfTenant, tenant, (this.#runningOfTenant.get(tenant) ?? 0) + after - before);
  }
}

function setOrDrop(counts: Map<string, number>, key: string, count: number): void {
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}
