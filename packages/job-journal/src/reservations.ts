/** Lines in somebody's hand: exclusive until they are synced, or until their time is over. In memory, no I/O. */
import type { IdRun } from "./id-runs.ts";
import type { WaitingLines } from "./waiting-lines.ts";

interface Reservation {
  /** Null: there was nothing to reserve. */
  readonly lines: IdRun | null;
  readonly deadlineMs: number;
  state: "reserved" | "read" | "synced";
}

/** `expired`: its lines are back in front, or somebody else has them. */
export type TokenProblem = "expired" | "read before" | "not read";

export class Reservations {
  readonly #waiting: WaitingLines;
  readonly #open = new Map<string, Reservation>();
  #made = 0;
  #point: number;

  constructor(waiting: WaitingLines, point: number) {
    this.#waiting = waiting;
    this.#point = point;
  }

  /** Everything up to this line has been synced. */
  get point(): number {
    return this.#point;
  }

  reserve(most: number, timeoutMs: number, nowMs: number): string {
    this.#expire(nowMs);
    const taken = [...this.#open.values()].flatMap(({ lines }) => lines ?? []);
    const lines = most < 1 ? null : this.#waiting.pick(this.#point, most, taken);
    this.#made += 1;
    const token = String(this.#made);
    this.#open.set(token, { lines, deadlineMs: nowMs + timeoutMs, state: "reserved" });
    return token;
  }

  /** Its lines, once. */
  read(token: string, nowMs: number): { readonly lines: IdRun | null } | TokenProblem {
    this.#expire(nowMs);
    const found = this.#open.get(token);
    if (found === undefined) return "expired";
    if (found.state !== "reserved") return "read before";
    found.state = "read";
    return { lines: found.lines };
  }

  /** Answers how far everything has been synced now. */
  sync(token: string, nowMs: number): { readonly point: number } | TokenProblem {
    this.#expire(nowMs);
    const found = this.#open.get(token);
    if (found === undefined || found.state === "synced") return "expired";
    if (found.state === "reserved") return "not read";
    found.state = "synced";
    this.#advance();
    return { point: this.#point };
  }

  /** Its lines go back in front at once. */
  release(token: string): void {
    if (this.#open.get(token)?.state !== "synced") this.#open.delete(token);
  }

  #expire(nowMs: number): void {
    for (const [token, { deadlineMs, state, lines }] of this.#open) {
      const isOver = state === "synced" ? lines === null || lines.last <= this.#point : deadlineMs <= nowMs;
      if (isOver) this.#open.delete(token);
    }
  }

  /** Over what is synced, up to the first line that is not. */
  #advance(): void {
    for (;;) {
      const next = this.#waiting.firstAbove(this.#point);
      const synced = [...this.#open.values()].find(
        ({ state, lines }) =>
          state === "synced" && lines !== null && next !== null && lines.first <= next && next <= lines.last,
      );
      if (synced?.lines == null) return;
      this.#point = synced.lines.last;
    }
  }
}
