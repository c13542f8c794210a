/**
 * Whose turn it is, for who serves several tenants or types: stride scheduling. Each tenant has a pass, the smallest goes
 * next and moves on by cost/weight; inside a tenant the same among its types of the highest priority present. Who returns
 * starts where the others are: nobody saves up turns. With equal costs nobody waits more than ceil(sum of weights / own
 * weight) picks.
 */
import type { WaitingType } from "./memory/ready-index.ts";

export interface FairnessOptions {
  /** 1 unless said. */
  readonly tenantWeights?: ReadonlyMap<string, number>;
  /** By TENANT/NAME; 1 unless said. */
  readonly typeWeights?: ReadonlyMap<string, number>;
}

/** A job that has waited longer goes first inside its tenant, whatever its priority. */
export const AGED_MS = 24 * 3_600_000;

export const typeKey = (tenant: string, name: string): string => `${tenant}/${name}`;
const ONE = (): number => 1;
/** How far a tenant may fall behind the others by what its jobs have cost: its next turn comes in any case. */
const DEBT_MAX = 10_000;
const tenantOf = (key: string): string => key.slice(0, key.indexOf("/"));

/** One level: who of those present goes next. */
class Strides {
  readonly #passes = new Map<string, number>();
  readonly #weights: ReadonlyMap<string, number>;
  #present: ReadonlySet<string> = new Set();
  #reached = 0;

  readonly #keepsDebts: boolean;

  constructor(weights: ReadonlyMap<string, number> = new Map(), keepsDebts = true) {
    this.#weights = weights;
    this.#keepsDebts = keepsDebts;
  }

  pick(present: ReadonlySet<string>, costOf: (each: string) => number = ONE): string | null {
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
    this.#passes.set(next, smallest + costOf(next) / this.#weight(next));
    this.#forget(present);
    return next;
  }

  /** It has cost more than its picks were charged, or with a negative amount less: but nobody goes before whose turn it is. */
  charge(each: string, amount: number): void {
    const before = this.#pass(each);
    const least = Math.min(before, this.#reached);
    const most = Math.max(before, this.#reached + DEBT_MAX);
    this.#passes.set(each, Math.min(most, Math.max(least, before + amount / this.#weight(each))));
  }

  #weight(each: string): number {
    return this.#weights.get(each) ?? 1;
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
    for (const [each, pass] of this.#passes)
      if (!present.has(each) && (pass <= this.#reached || !this.#keepsDebts)) this.#passes.delete(each);
  }
}

export class FairScheduler {
  readonly #options: FairnessOptions;
  readonly #tenants: Strides;
  readonly #types = new Map<string, Strides>();

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

  /** `costOf`: what a job of this tenant is charged; one turn unless said. */
  pick(waiting: readonly WaitingType[], now: number, costOf: (tenant: string) => number = ONE): WaitingType | null {
    const byTenant = new Map<string, WaitingType[]>();
    for (const type of waiting) {
      if (type.count < 1) continue;
      const known = byTenant.get(type.tenant);
      if (known === undefined) byTenant.set(type.tenant, [type]);
      else known.push(type);
    }
    const tenant = this.#tenants.pick(new Set(byTenant.keys()), costOf);
    return tenant === null ? null : this.#pickType(tenant, byTenant.get(tenant) ?? [], now);
  }

  /** What has become known since of what a tenant's jobs cost, whoever picked them. In the unit of `costOf`. */
  charge(tenant: string, amount: number): void {
    if (amount !== 0) this.#tenants.charge(tenant, amount);
  }

  #pickType(tenant: string, types: readonly WaitingType[], now: number): WaitingType | null {
    const aged = types.filter(({ since }) => now - since > AGED_MS);
    const highest = types.reduce((most, { priority }) => Math.max(most, priority), -Infinity);
    const first = aged.length > 0 ? aged : types.filter(({ priority }) => priority === highest);
    let strides = this.#types.get(tenant);
    // Those present may be but the first of many, in the order of their turns: who had one comes again after the others anyway.
    if (strides === undefined) this.#types.set(tenant, (strides = new Strides(this.#options.typeWeights, false)));
    const key = strides.pick(new Set(first.map(({ name }) => typeKey(tenant, name))));
    return first.find(({ name }) => typeKey(tenant, name) === key) ?? null;
  }
}
