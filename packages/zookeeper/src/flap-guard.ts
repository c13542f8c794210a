const WINDOW_MS = 5 * 60_000;
const MAX_DISCONNECTS = 5;

/** A link that breaks more than five times in five minutes is worse than none: work begun on it is mostly thrown away. */
export class FlapGuard {
  #disconnects: number[] = [];

  note(nowMs: number): void {
    this.#disconnects = [...this.#disconnects.slice(-MAX_DISCONNECTS), nowMs];
  }

  flapping(nowMs: number): boolean {
    const recent = this.#disconnects.filter((at) => nowMs - at < WINDOW_MS);
    return recent.length > MAX_DISCONNECTS;
  }
}
