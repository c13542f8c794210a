/** Terms that end by themselves are a sign of something that a new term does not mend: too many, and the shard rests. */
import type { TermEnd } from "../metrics.ts";

const MINUTE_MS = 60_000;
const MOST_A_MINUTE = 3;

export class Endings {
  #recent: number[] = [];
  #restsUntil = -Infinity;

  /** True: from now on it rests. */
  note(now: number): boolean {
    this.#recent = [...this.#recent.filter((moment) => moment > now - MINUTE_MS), now];
    if (this.#recent.length <= MOST_A_MINUTE) return false;
    this.#recent = [];
    this.#restsUntil = now + MINUTE_MS;
    return true;
  }

  /** How long it still rests. */
  restMs(now: number): number {
    return Math.max(0, this.#restsUntil - now);
  }
}

export function endingOf(reason: unknown): TermEnd {
  const why = reason instanceof Error ? reason.message : String(reason);
  if (why === "resigned") return "left";
  if (why === "deposed") return "deposed";
  return why.startsWith("the session") ? "session" : "refused";
}
