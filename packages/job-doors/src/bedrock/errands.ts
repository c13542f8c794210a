/** What was answered with 202 and is still to be done. It lives in memory: jobs that must not be lost are created, not put off. */
import type { Later } from "../queue-port.ts";

export interface ErrandLimits {
  /** Commands that wait or run, of all tenants together. */
  readonly all: number;
  /** Of one tenant: nobody takes the places of all. */
  readonly perTenant: number;
  /** How far ahead the time of a command may lie. */
  readonly delayMs: number;
}

export const ERRAND_LIMITS: ErrandLimits = { all: 10_000, perTenant: 1_000, delayMs: 24 * 3_600_000 };

/** What a timer can hold. */
const LONGEST_REST_MS = 2 ** 31 - 1;

export type Accepted = "accepted" | "too-far" | "tenant-full" | "full";

export interface ErrandOptions {
  /** A mistake of ours, or of who keeps the jobs: nobody waits for the answer, so nobody else is told. */
  readonly onError: (error: unknown) => void;
  readonly limits?: Partial<ErrandLimits>;
}

export class Errands {
  readonly limits: ErrandLimits;
  readonly #later: Later;
  readonly #onError: ErrandOptions["onError"];
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stops = new Set<() => void>();
  readonly #ofTenant = new Map<string, number>();
  #accepted = 0;

  constructor(later: Later, { onError, limits = {} }: ErrandOptions) {
    this.#later = later;
    this.#onError = onError;
    this.limits = { ...ERRAND_LIMITS, ...limits };
  }

  /** What we owe: it is never refused. */
  start(errand: () => Promise<unknown>): void {
    const running = caught(errand, this.#onError).finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** What a tenant asks for, in `ms` or at once. */
  accept(tenant: string, ms: number, errand: () => Promise<unknown>): Accepted {
    if (ms > this.limits.delayMs) return "too-far";
    const ofTenant = this.#ofTenant.get(tenant) ?? 0;
    if (ofTenant >= this.limits.perTenant) return "tenant-full";
    if (this.#accepted >= this.limits.all) return "full";
    this.#accepted += 1;
    this.#ofTenant.set(tenant, ofTenant + 1);
    this.#in(ms, () => this.start(() => errand().finally(() => this.#forget(tenant))));
    return "accepted";
  }

  /** What has begun is finished; what was put off is dropped. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
    await Promise.allSettled(this.#underWay);
  }

  #in(ms: number, act: () => void): void {
    if (ms <= 0) {
      act();
      return;
    }
    const rest = Math.min(ms, LONGEST_REST_MS);
    const stop = this.#later(rest, () => {
      this.#stops.delete(stop);
      this.#in(ms - rest, act);
    });
    this.#stops.add(stop);
  }

  #forget(tenant: string): void {
    this.#accepted -= 1;
    const left = (this.#ofTenant.get(tenant) ?? 1) - 1;
    if (left > 0) this.#ofTenant.set(tenant, left);
    else this.#ofTenant.delete(tenant);
  }
}

/** Also what it throws before its first wait. */
async function caught(errand: () => Promise<unknown>, onError: (error: unknown) => void): Promise<void> {
  try {
    await errand();
  } catch (error) {
    onError(error);
  }
}
