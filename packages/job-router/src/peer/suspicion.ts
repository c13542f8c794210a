/** Timeouts of one shard's owner, one in each span of time however many requests had it: a pause is not three deaths. */
import { TIMEOUT_MS } from "./link.ts";

const TIMEOUTS = 3;

export class Suspicion {
  #term = 0;
  #count = 0;
  #last = -Infinity;

  /** True: that was one too many. */
  note(term: number, now: number): boolean {
    if (term !== this.#term) this.clear(term);
    // A little less, so that a timer that is early still counts.
    if (now - this.#last < TIMEOUT_MS / 2) return false;
    this.#last = now;
    this.#count += 1;
    return this.#count >= TIMEOUTS;
  }

  clear(term: number): void {
    this.#term = term;
    this.#count = 0;
    this.#last = -Infinity;
  }
}
