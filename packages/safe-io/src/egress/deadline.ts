import type { IoFault } from "../outcome.ts";

/** One signal for a whole exchange, redirects and body included: the caller's wish to stop, and the total time. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #caller: AbortSignal | undefined;
  readonly #onAbort = (): void => this.#stop("ABORTED");
  #reason: "TIMEOUT" | "ABORTED" | undefined;

  constructor(totalMs: number, caller: AbortSignal | undefined) {
    this.#caller = caller;
    this.#timer = setTimeout(() => this.#stop("TIMEOUT"), totalMs);
    this.#timer.unref();
    if (caller?.aborted === true) this.#stop("ABORTED");
    else caller?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** The fault if it was this deadline that ended the exchange. */
  fault(place: string): IoFault | undefined {
    if (this.#reason === undefined) return undefined;
    const timedOut = this.#reason === "TIMEOUT";
    const what = timedOut ? "not finished in time" : "given up";
    return { code: this.#reason, message: `${place}: ${what}`, retryable: timedOut };
  }

  /** Must be called at the end: the caller's signal may live much longer than one exchange. */
  dispose(): void {
    clearTimeout(this.#timer);
    this.#caller?.removeEventListener("abort", this.#onAbort);
  }

  #stop(reason: "TIMEOUT" | "ABORTED"): void {
    this.#reason ??= reason;
    this.#controller.abort();
  }
}
