/** What was answered with 202 and is still to be done. It lives in memory: jobs that must not be lost are created, not put off. */
import type { Later } from "../queue-port.ts";

const PUT_OFF_MOST = 10_000;
/** What a timer can hold. */
const LONGEST_REST_MS = 2 ** 31 - 1;

export class Errands {
  readonly #later: Later;
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #stops = new Set<() => void>();

  constructor(later: Later) {
    this.#later = later;
  }

  start(errand: () => Promise<unknown>): void {
    const running = errand().finally(() => this.#underWay.delete(running));
    this.#underWay.add(running);
  }

  /** False: too many wait already. */
  putOff(ms: number, errand: () => Promise<unknown>): boolean {
    if (this.#stops.size >= PUT_OFF_MOST) return false;
    const rest = Math.min(ms, LONGEST_REST_MS);
    const stop = this.#later(rest, () => {
      this.#stops.delete(stop);
      if (ms > rest) this.putOff(ms - rest, errand);
      else this.start(errand);
    });
    this.#stops.add(stop);
    return true;
  }

  /** What has begun is finished; what was put off is dropped. */
  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    this.#stops.clear();
    await Promise.allSettled(this.#underWay);
  }
}
