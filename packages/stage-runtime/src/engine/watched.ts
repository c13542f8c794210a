/** A value of the tree kept at hand by a watch, with a maximum age as a backstop for a watch that was lost. */
import type { Clock, Watch } from "@sluice/zookeeper";

export interface WatchedOptions<T> {
  /** Reads the value; must set the watch if it is given one. null = could not be read. */
  readonly read: (watch: Watch | undefined) => Promise<T | null>;
  readonly clock: Clock;
  readonly maxAgeMs: number;
  readonly onChange: () => void;
}

export class Watched<T> {
  readonly #options: WatchedOptions<T>;
  #value: T | null = null;
  #readAtMs = -Infinity;
  #armed = false;
  #changes = 0;
  #changesSeen = -1;
  #reading: Promise<T | null> | null = null;

  constructor(options: WatchedOptions<T>) {
    this.#options = options;
  }

  /** The value as far as we were told; read again if it changed or is old. null = it could not be read. */
  fresh(): Promise<T | null> {
    const { clock, maxAgeMs } = this.#options;
    const current = this.#changesSeen === this.#changes && clock.monotonicMs() - this.#readAtMs < maxAgeMs;
    if (current) return Promise.resolve(this.#value);
    this.#reading ??= this.#read().finally(() => (this.#reading = null));
    return this.#reading;
  }

  /** Somebody knows better than the watch. */
  invalidate(): void {
    this.#changes += 1;
  }

  async #read(): Promise<T | null> {
    const changesBefore = this.#changes;
    const watch = this.#armed ? undefined : (): void => this.#fired();
    if (watch !== undefined) this.#armed = true;
    const value = await this.#options.read(watch);
    this.#value = value;
    if (value === null) {
      if (watch !== undefined) this.#armed = false;
      return null;
    }
    this.#changesSeen = changesBefore;
    this.#readAtMs = this.#options.clock.monotonicMs();
    return value;
  }

  #fired(): void {
    this.#armed = false;
    this.#changes += 1;
    this.#options.onChange();
  }
}
