/**
 * What each tenant's jobs cost: the time for which they occupy a worker. A run that has ended costs the time that it took;
 * one that is under way costs what it has taken so far. The owner of a shard knows it of all its tenants, whoever takes the
 * jobs, and starts with nothing in each term.
 */
export interface TenantUsage {
  readonly tenant: string;
  /** Runs that began in this term. */
  readonly started: number;
  /** Runs that are under way. */
  readonly running: number;
  /** Worker time of the runs that are over. */
  readonly endedMs: number;
  /** Worker time of those that are under way, until now. */
  readonly runningMs: number;
  /** What a run of this tenant is expected to cost. */
  readonly meanMs: number;
}

/** Before the first run has ended. */
export const EXPECTED_MS = 1_000;
/** The last runs count most. */
const SMOOTHING = 1 / 8;

interface Sums {
  started: number;
  running: number;
  endedMs: number;
  /** Of those that run: so that the time they have taken needs no look at each. */
  beganSum: number;
  meanMs: number | null;
}

export class Usage {
  readonly #tenants = new Map<string, Sums>();

  jobsStarted(tenant: string, began: number): void {
    const sums = this.#tenants.get(tenant) ?? { started: 0, running: 0, endedMs: 0, beganSum: 0, meanMs: null };
    sums.started += 1;
    sums.running += 1;
    sums.beganSum += began;
    this.#tenants.set(tenant, sums);
  }

  /** It may be tried again later, but it runs no longer. `began` as it was said when it started. */
  jobsStopped(tenant: string, began: number, now: number): void {
    const sums = this.#tenants.get(tenant);
    if (sums === undefined || sums.running === 0) return;
    const took = Math.max(0, now - began);
    sums.running -= 1;
    sums.beganSum -= began;
    sums.endedMs += took;
    sums.meanMs = sums.meanMs === null ? took : sums.meanMs + (took - sums.meanMs) * SMOOTHING;
  }

  of(tenant: string, now: number): TenantUsage {
    const { started = 0, running = 0, endedMs = 0, beganSum = 0, meanMs = null } = this.#tenants.get(tenant) ?? {};
    const runningMs = Math.max(0, running * now - beganSum);
    return { tenant, started, running, endedMs, runningMs, meanMs: meanMs ?? EXPECTED_MS };
  }

  all(now: number): readonly TenantUsage[] {
    return [...this.#tenants.keys()].map((tenant) => this.of(tenant, now));
  }
}
