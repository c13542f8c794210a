/**
 * How long the event loop stood still in the hands of our own code. A process that was stopped from outside (SIGSTOP, a
 * suspended machine) sleeps in the poll of the loop, which does not count as active: that is nobody's fault here.
 */
import type { Clock } from "@sluice/zookeeper";
import { performance } from "node:perf_hooks";

const BEAT_MS = 100;
/** Beats come late on a busy machine; below so much that is all it is. */
const STALL_MS = 500;
/** Longer than any session timeout that can be asked for. */
const REMEMBERED_MS = 600_000;

interface Stall {
  readonly endedMs: number;
  readonly lastedMs: number;
}

/** How long the loop has been active in all, in ms; only its growth means something. */
export const loopActiveMs = (): number => performance.eventLoopUtilization().active;

export class Stalls {
  readonly #clock: Clock;
  readonly #activeMs: () => number;
  #beatMs: number;
  #activeAtBeatMs: number;
  #stalls: Stall[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(clock: Clock, activeMs: () => number) {
    this.#clock = clock;
    this.#activeMs = activeMs;
    this.#beatMs = clock.monotonicMs();
    this.#activeAtBeatMs = activeMs();
  }

  start(): void {
    this.#timer ??= setInterval(() => this.beat(), BEAT_MS).unref();
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** The loop turned: between two of these that are far apart it did not. */
  beat(): void {
    const nowMs = this.#clock.monotonicMs();
    const lastedMs = this.#underWayMs();
    if (lastedMs > 0) {
      const recent = this.#stalls.filter(({ endedMs }) => nowMs - endedMs < REMEMBERED_MS);
      this.#stalls = [...recent, { endedMs: nowMs, lastedMs }];
    }
    this.#beatMs = nowMs;
    this.#activeAtBeatMs = this.#activeMs();
  }

  /** All of it that ended within the last so many ms, with what is under way. */
  withinMs(windowMs: number): number {
    const nowMs = this.#clock.monotonicMs();
    const recent = this.#stalls.filter(({ endedMs }) => nowMs - endedMs < windowMs);
    return recent.reduce((sum, { lastedMs }) => sum + lastedMs, this.#underWayMs());
  }

  #underWayMs(): number {
    const activeMs = this.#activeMs() - this.#activeAtBeatMs;
    const gapMs = this.#clock.monotonicMs() - this.#beatMs;
    return Math.min(activeMs, gapMs) >= STALL_MS ? activeMs : 0;
  }
}

/** After a third of its timeout without an answer a session is suspended, however well its server is. */
export const isOurFault = (stalledMs: number, sessionTimeoutMs: number): boolean => stalledMs >= sessionTimeoutMs / 3;
