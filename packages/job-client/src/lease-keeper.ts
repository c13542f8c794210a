/**
 * Renews the leases of all jobs that this process has, with one request. Whoever holds a job hears when it is no longer theirs:
 * told by the queue, or because nobody could be reached for as long as a lease lasts. We count from before we ask, the queue
 * from when it hears us: so ours ends first.
 */
import type { Outcome } from "./outcome.ts";

export interface Lease {
  readonly tenant: string;
  readonly jobID: number;
  readonly lease: string;
}

export type Lost = "told" | "silence";

interface Held extends Lease {
  readonly ttlMs: number;
  /** Nobody else has it before then. */
  until: number;
  readonly lost: (why: Lost) => void;
}

/** As the queue gives it to whoever asks for no other time. */
export const LEASE_MS = 10_000;
const LOOK_MS = 250;

type Renew = (leases: readonly Lease[]) => Promise<Outcome<readonly number[]>>;

export class LeaseKeeper {
  readonly #renew: Renew;
  readonly #everyMs: number;
  readonly #held = new Map<string, Held>();
  #timer: ReturnType<typeof setTimeout> | null = null;
  #stopped = false;

  constructor(renew: Renew, everyMs: number) {
    this.#renew = renew;
    this.#everyMs = everyMs;
  }

  /** Of a job that has just come. Returns the way to let go of it. */
  hold(lease: Lease, ttlMs: number, lost: (why: Lost) => void): () => void {
    const key = `${lease.tenant} ${lease.jobID} ${lease.lease}`;
    this.#held.set(key, { ...lease, ttlMs, until: performance.now() + ttlMs, lost });
    this.#rest();
    return () => this.#held.delete(key);
  }

  stop(): void {
    this.#stopped = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  #rest(): void {
    if (this.#timer !== null || this.#stopped || this.#held.size === 0) return;
    this.#timer = setTimeout(() => void this.#round().catch(() => this.#onBrokenRound()), this.#everyMs);
  }

  async #round(): Promise<void> {
    const asked = [...this.#held.entries()];
    const askedAt = performance.now();
    // The answer may take longer than the leases last.
    const look = setInterval(() => this.#loseThoseOver(), LOOK_MS);
    const renewed = await this.#renew(asked.map(([, { tenant, jobID, lease }]) => ({ tenant, jobID, lease }))).finally(
      () => clearInterval(look),
    );
    if (renewed.ok) {
      const lost = new Set(renewed.value);
      for (const [key, held] of asked) {
        if (lost.has(held.jobID)) this.#lose(key, "told");
        else held.until = askedAt + held.ttlMs;
      }
    }
    this.#loseThoseOver();
    this.#timer = null;
    this.#rest();
  }

  /** Nothing was renewed: what runs out is lost, and the next round asks again. */
  #onBrokenRound(): void {
    this.#loseThoseOver();
    this.#timer = null;
    this.#rest();
  }

  #loseThoseOver(): void {
    const now = performance.now();
    for (const [key, { until }] of this.#held) if (until <= now) this.#lose(key, "silence");
  }

  #lose(key: string, why: Lost): void {
    const held = this.#held.get(key);
    this.#held.delete(key);
    held?.lost(why);
  }
}
