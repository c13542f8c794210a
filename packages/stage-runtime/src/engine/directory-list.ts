/** Lists a directory and says when it must be listed again: when its watch fired, or at the poll. */
import type { Scope } from "./scope.ts";
import type { Waker } from "./waker.ts";

/** A list of 50,000 names is a megabyte: its share of our time stays below one in so many. */
const COST_FACTOR = 20;

export class DirectoryList {
  readonly #scope: Scope;
  readonly #path: string;
  readonly #waker: Waker;
  #armed = false;
  #outdated = true;
  #listedAtMs = -Infinity;
  #costMs = 0;
  #startedMs = 0;

  constructor(scope: Scope, path: string, waker: Waker) {
    this.#scope = scope;
    this.#path = path;
    this.#waker = waker;
    scope.members.onChange(() => this.#changed());
  }

  /** `dry`: there is nothing left of the last list. Otherwise a list is good for a while, so that lists are few. */
  isDue(dry: boolean): boolean {
    const ageMs = this.#scope.queue.clock.monotonicMs() - this.#listedAtMs;
    if (dry && this.#outdated) return true;
    const { pollMs, idlePollMs } = this.#scope.settings;
    return ageMs >= Math.max(pollMs, Math.min(idlePollMs, COST_FACTOR * this.#costMs));
  }

  /** What was made of the list is part of what it costs: to be called when it is ready for use. */
  countCost(): void {
    this.#costMs = this.#scope.queue.clock.monotonicMs() - this.#startedMs;
  }

  /** Something other than the directory has changed: a delay is over, a claim was refused. */
  markOutdated(): void {
    this.#outdated = true;
  }

  /** null = no answer. The watch is set unless it still stands. */
  async read(): Promise<readonly string[] | null> {
    const { session, clock } = this.#scope.queue;
    this.#startedMs = clock.monotonicMs();
    this.#outdated = false;
    const watch = this.#armed ? undefined : (): void => this.#fired();
    if (watch !== undefined) this.#armed = true;
    const [answer] = await Promise.all([session.children(this.#path, watch), this.#scope.fleetIdGuard.check()]);
    if (!answer.ok) {
      if (watch !== undefined) this.#armed = false;
      this.#outdated = true;
      return null;
    }
    this.#scope.pulse.sawQueue();
    this.#listedAtMs = clock.monotonicMs();
    this.countCost();
    this.#scope.probe({ kind: "listed", path: this.#path, entries: answer.value.names.length });
    return answer.value.names;
  }

  #fired(): void {
    this.#armed = false;
    this.#changed();
  }

  #changed(): void {
    this.#outdated = true;
    this.#waker.wake();
  }
}
