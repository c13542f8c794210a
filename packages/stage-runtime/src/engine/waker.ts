/** Joins all that can wake a loop (watches, free slots, delays, the bell) into one thing to wait for. */
export class Waker {
  #woken = false;
  #wakeUp: (() => void) | null = null;

  /** Also when nobody waits yet: the next wait then returns at once. */
  wake(): void {
    this.#woken = true;
    this.#wakeUp?.();
  }

  async wait(maxMs: number, stop: AbortSignal): Promise<void> {
    if (!this.#woken && !stop.aborted) await this.#sleep(maxMs, stop);
    this.#woken = false;
  }

  #sleep(maxMs: number, stop: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wakeUp = (): void => {
        clearTimeout(timer);
        stop.removeEventListener("abort", wakeUp);
        this.#wakeUp = null;
        resolve();
      };
      const timer = setTimeout(wakeUp, Math.max(0, maxMs));
      stop.addEventListener("abort", wakeUp);
      this.#wakeUp = wakeUp;
    });
  }
}
