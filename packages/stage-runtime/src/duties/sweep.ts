/** The engine of a sweep: repeated, idempotent work without a lock, done by one replica at a time. */
import { ownerOf } from "@sluice/queue-core";
import type { Sweep } from "../duty.ts";
import { runLoop } from "../engine/loop.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { Waker } from "../engine/waker.ts";

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

class Sweeper {
  readonly #sweep: Sweep;
  readonly #name: string;
  readonly #scope: Scope;
  #startedAtMs = -Infinity;

  constructor(sweep: Sweep, name: string, scope: Scope) {
    this.#sweep = sweep;
    this.#name = name;
    this.#scope = scope;
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
    if (ownerOf(this.#name, await this.#scope.members.list()) !== this.#scope.actor.worker) return false;
    this.#startedAtMs = clock.monotonicMs();
    this.#scope.pulse.resting(this.#name);
    await this.#run();
    return false;
  }

  async #run(): Promise<void> {
    const { aborting, queue, failpoint, actor, metrics, probe } = this.#scope;
    const log = this.#scope.log.child({ sweep: this.#sweep.name });
    const count = (outcome: string): void => metrics.dutyRuns.inc({ stage: actor.stage, duty: this.#name, outcome });
    try {
      await this.#sweep.run({ signal: aborting, clock: queue.clock, log, failpoint, queue, worker: actor.worker });
      count("done");
    } catch (error) {
      if (!aborting.aborted) log.error({ err: error }, "the sweep threw");
      count("failed");
    }
    probe({ kind: "swept", duty: this.#name });
  }
}
