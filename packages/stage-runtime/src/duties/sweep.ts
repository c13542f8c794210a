/** The engine of a sweep: repeated, idempotent work without a lock, done by one replica at a time. */
import { ownerOf } from "@sluice/queue-core";
import type { Sweep } from "../duty.ts";
import { runLoop } from "../engine/loop.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { Waker } from "../engine/waker.ts";
import type { Log } from "../log.ts";

export function startSweep(sweep: Sweep, scope: Scope): RunningDuty {
  const waker = new Waker();
  const name = `sweep ${sweep.name}`;
  scope.members.onChange(() => waker.wake());
  const runner = new Sweeper(sweep, name, scope);
  const ended = runLoop({
    name,
    scope,
    waker,
    turn: () => runner.turn(),
    idleMs: () => runner.idleMs(),
    pausable: false,
  });
  return { name, ended, abandon: () => Promise.resolve([]) };
}

/** Longer than any run that goes on; what such a one has not done, the next one does. */
const DEADLINE_MS = 15 * 60_000;
/** So long a run that was told to stop may take to do so. */
const OBEY_MAX_MS = 30_000;

class Sweeper {
  readonly #sweep: Sweep;
  readonly #name: string;
  readonly #scope: Scope;
  readonly #log: Log;
  #startedAtMs = -Infinity;

  constructor(sweep: Sweep, name: string, scope: Scope) {
    this.#sweep = sweep;
    this.#name = name;
    this.#scope = scope;
    this.#log = scope.log.child({ sweep: sweep.name });
    this.#count("late", 0);
    this.#showHung(0);
  }

  /** Short enough for the engine's pulse, also where a sweep runs once a day. */
  idleMs(): number {
    const dueMs = this.#startedAtMs + this.#sweep.everyMs - this.#scope.queue.clock.monotonicMs();
    return Math.max(1, Math.min(this.#scope.settings.idlePollMs, dueMs > 0 ? dueMs : this.#sweep.everyMs));
  }

  async turn(): Promise<boolean> {
    const { clock } = this.#scope.queue;
    await this.#scope.fleetIdGuard.check();
    this.#scope.pulse.sawQueue();
    if (clock.monotonicMs() - this.#startedAtMs < this.#sweep.everyMs) return false;
    if (ownerOf(this.#name, await this.#scope.members.sweepers(this.#name)) !== this.#scope.actor.worker) return false;
    this.#startedAtMs = clock.monotonicMs();
    this.#scope.pulse.resting(this.#name);
    await this.#runInTime();
    return false;
  }

  /**
   * A run that takes too long is told to stop. One that does not obey is left to itself: another process is asked to do
   * the sweep, and this one no longer calls itself alive.
   */
  async #runInTime(): Promise<void> {
    const { deadlineMs = DEADLINE_MS } = this.#sweep;
    const late = new AbortController();
    const onLate = (): void => {
      this.#log.error({ deadline_ms: deadlineMs }, "the sweep takes too long: told to stop, goes on with its next run");
      this.#count("late");
      late.abort(new Error(`the sweep took longer than ${deadlineMs} ms`));
    };
    const timers = [
      setTimeout(onLate, deadlineMs).unref(),
      setTimeout(() => this.#hangs(), deadlineMs + Math.min(deadlineMs, OBEY_MAX_MS)).unref(),
    ];
    await this.#run(AbortSignal.any([this.#scope.aborting, late.signal]), late.signal);
    for (const timer of timers) clearTimeout(timer);
    this.#showHung(0);
    this.#scope.hung.remove(this.#name);
    this.#scope.probe({ kind: "swept", duty: this.#name });
  }

  #hangs(): void {
    this.#log.error("the sweep hangs: it does not stop, another process is to do it");
    this.#scope.pulse.turned(this.#name);
    this.#showHung(1);
    this.#scope.hung.add(this.#name);
  }

  async #run(signal: AbortSignal, late: AbortSignal): Promise<void> {
    const { queue, failpoint, actor, aborting } = this.#scope;
    try {
      await this.#sweep.run({ signal, clock: queue.clock, log: this.#log, failpoint, queue, worker: actor.worker });
      if (!late.aborted) this.#count("done");
    } catch (error) {
      if (!signal.aborted) this.#log.error({ err: error }, "the sweep threw");
      if (!late.aborted || aborting.aborted) this.#count("failed");
    }
  }

  #count(outcome: string, by = 1): void {
    this.#scope.metrics.dutyRuns.inc({ stage: this.#scope.actor.stage, duty: this.#name, outcome }, by);
  }

  #showHung(value: 0 | 1): void {
    this.#scope.metrics.sweepsHung.set({ stage: this.#scope.actor.stage, duty: this.#name }, value);
  }
}
