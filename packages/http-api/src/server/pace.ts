/**
 * Bodies that hardly come. A whole request has no deadline, for 30 GB take as long as they take; what counts is that it goes
 * on: too few bytes within a window, while it is the client who is waited for, end it.
 */
export interface PaceLimits {
  readonly stallMs: number;
  readonly minBytesPerSecond: number;
}

/** A request whose body is on its way. */
export interface Incoming {
  /** Of its connection, so far. */
  readonly bytesRead: () => number;
  /** Bytes are here that we have not taken: then we are the slow ones. */
  readonly waitsForUs: () => boolean;
  readonly isComplete: () => boolean;
  readonly giveUp: () => void;
}

interface Window {
  readonly sinceMs: number;
  readonly bytes: number;
}

export class Pace {
  readonly #limits: PaceLimits;
  readonly #windows = new Map<Incoming, Window>();

  constructor(limits: PaceLimits) {
    this.#limits = limits;
  }

  watch(incoming: Incoming, nowMs: number): void {
    this.#windows.set(incoming, { sinceMs: nowMs, bytes: incoming.bytesRead() });
  }

  forget(incoming: Incoming): void {
    this.#windows.delete(incoming);
  }

  /** Called from time to time, several times in a window. */
  check(nowMs: number): void {
    for (const [incoming, window] of this.#windows) this.#checkOne(incoming, window, nowMs);
  }

  #checkOne(incoming: Incoming, { sinceMs, bytes }: Window, nowMs: number): void {
    if (incoming.isComplete()) {
      this.#windows.delete(incoming);
      return;
    }
    if (incoming.waitsForUs()) {
      this.watch(incoming, nowMs);
      return;
    }
    const { stallMs, minBytesPerSecond } = this.#limits;
    const elapsedMs = nowMs - sinceMs;
    if (elapsedMs < stallMs) return;
    if (incoming.bytesRead() - bytes >= (minBytesPerSecond * elapsedMs) / 1_000) {
      this.watch(incoming, nowMs);
      return;
    }
    this.#windows.delete(incoming);
    incoming.giveUp();
  }
}
