import type { Log } from "../log.ts";

/** starting → running → draining → stopped, or failed from anywhere. */
export type LifeState = "starting" | "running" | "draining" | "stopped" | "failed";

const NEXT: Readonly<Record<LifeState, readonly LifeState[]>> = {
  starting: ["running", "draining", "failed"],
  running: ["draining", "failed"],
  draining: ["stopped", "failed"],
  stopped: [],
  failed: [],
};

/** The service's life has named states; each change is a line, written by whoever changes it: this setter. */
export class Lifecycle {
  readonly #log: Log;
  readonly #onChange: (state: LifeState) => void;
  #state: LifeState = "starting";

  constructor(log: Log, onChange: (state: LifeState) => void = () => undefined) {
    this.#log = log;
    this.#onChange = onChange;
    log.info({ state: this.#state, pid: process.pid }, "service state");
  }

  get state(): LifeState {
    return this.#state;
  }

  /** False, and nothing changed, if there is no such way. */
  become(next: LifeState): boolean {
    if (!NEXT[this.#state].includes(next)) return false;
    const before = this.#state;
    this.#state = next;
    this.#log.info({ state: next, before }, "service state");
    this.#onChange(next);
    return true;
  }
}
