/** From when on anybody may take what was somebody else's to take. */
import type { JobId } from "@sluice/queue-core";
import type { Clock } from "@sluice/zookeeper";

/** In two lists so far apart, an entry that its proper worker did not take is anybody's. */
const TAKE_OVER_MS = 1_000;
/** Workers of an idle stage see a left-over at one moment: they must not all claim it at one moment. */
const JITTER_MS = 500;

/** `chance` in [0, 1). */
export const takeOverMs = (chance: number): number => TAKE_OVER_MS + JITTER_MS * chance;

/** Jobs that could go on, and that one worker takes before all others: what it leaves lying is the others'. */
export class LeftToOthers {
  readonly #clock: Clock;
  readonly #random: () => number;
  #fromMs: ReadonlyMap<JobId, number> = new Map();
  #nextAtMs = Infinity;

  constructor(clock: Clock, random: () => number) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Of those that could go on now. `isOurs`: all of them. */
  left(ids: readonly JobId[], isOurs: boolean): ReadonlySet<JobId> {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#fromMs;
    // One moment for all that are seen for the first time.
    const fromMs = nowMs + takeOverMs(this.#random());
    this.#fromMs = new Map(isOurs ? [] : ids.map((id) => [id, before.get(id) ?? fromMs]));
    const later = [...this.#fromMs.values()].filter((atMs) => atMs > nowMs);
    this.#nextAtMs = later.reduce((first, atMs) => Math.min(first, atMs), Infinity);
    return new Set(isOurs ? ids : ids.filter((id) => (this.#fromMs.get(id) ?? Infinity) <= nowMs));
  }

  /** When the first of those that were not left then will be. Infinity: there is none. */
  get nextAtMs(): number {
    return this.#nextAtMs;
  }
}
