/** Lists a directory and says when it must be listed again: when its watch fired, or at the poll. */
import type { Scope } from "./scope.ts";
import type { Waker } from "./waker.ts";

/** What a list costs, from the server's answer to the order of its entries: about so much for each of them. */
const ENTRY_COST_MS = 0.001;
/** So many cost no more than any other request. */
const FREE_ENTRIES = 1_000;
/** While there is something left of the list before, the next one is due when its share of our time is one in so many … */
const COST_FACTOR = 300;
/** … or when one in so many of its entries was taken, so that each one taken pays for the same part of a list. */
const TAKEN_ONE_OF = 100;
/** With nothing left: its share of our time stays below one in so many. */
const DRY_COST_FACTOR = 5;

export class DirectoryList {
  readonly #scope: Scope;
  readonly #path: string;
  readonly #waker: Waker;
  #armed = false;
  #outdated = true;
  #listedAtMs = -Infinity;
  #costMs = 0;
  #entries = 0;
  #taken = 0;

  constructor(scope: Scope, path: string, waker: Waker) {
    this.#scope = scope;
    this.#path = path;
    this.#waker = waker;
    scope.members.onChange(() => this.#changed());
  }

  /** `dry`: there is nothing left of the last list. Otherwise a list is good for a while, so that lists are few. */
  isDue(dry: boolean): boolean {
    return this.#dueInMs(dry) <= 0;
  }

  /** With nothing left of the last list: how long to wait for the next one. Infinity: until something changes, or the poll. */
  outdatedForMs(): number {
    return this.#outdated ? Math.max(0, this.#dueInMs(true)) : Infinity;
  }

  #dueInMs(dry: boolean): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    const ageMs = this.#scope.queue.clock.monotonicMs() - this.#listedAtMs;
    if (dry && this.#outdated) return DRY_COST_FACTOR * this.#costMs - ageMs;
    const isPaidFor = TAKEN_ONE_OF * this.#taken >= this.#entries;
    return (isPaidFor ? pollMs : Math.max(pollMs, Math.min(idlePollMs, COST_FACTOR * this.#costMs))) - ageMs;
  }

  /** So many of its entries were taken out of the last list. */
  took(count: number): void {
    this.#taken += count;
  }

  /** Something other than the directory has changed: a delay is over, a claim was refused. */
  markOutdated(): void {
    this.#outdated = true;
  }

  /** null = no answer. The watch is set unless it still stands. */
  async read(): Promise<readonly string[] | null> {
    const { session, clock } = this.#scope.queue;
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
    this.#entries = answer.value.names.length;
    this.#taken = 0;
    this.#costMs = ENTRY_COST_MS * Math.max(0, this.#entries - FREE_ENTRIES);
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
