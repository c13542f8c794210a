/** The loop that every duty runs in: turn while there is something to do, else wait to be woken. */
import { setImmediate as nextTick } from "node:timers/promises";
import { CLOSED_REASONS, type ClosedReason } from "./gate.ts";
import type { Scope } from "./scope.ts";
import type { Waker } from "./waker.ts";

export interface LoopParts {
  readonly name: string;
  readonly scope: Scope;
  readonly waker: Waker;
  /** One turn; false = nothing to do now. */
  readonly turn: () => Promise<boolean>;
  readonly idleMs: () => number;
  /** False for work that claims nothing: a pause does not stop it. */
  readonly pausable?: boolean;
}

const AFTER_DEFECT_MS = 1_000;
/** A closed gate opens by a watch or by the session's coming back; this is only the backstop, and the engine's pulse. */
const WHILE_CLOSED_MS = 1_000;

/** Until the first bell. What the turns have started may still be under way then. */
export async function runLoop(parts: LoopParts): Promise<void> {
  const { name, scope, waker } = parts;
  const shutter = new Shutter(scope, name);
  scope.gate.onChange(() => waker.wake());
  while (!scope.stopping.aborted) {
    scope.pulse.turned(name);
    const waitMs = await oneTurn(parts, shutter);
    if (waitMs > 0) await waker.wait(waitMs, scope.stopping);
    // All that was settled by one answer of ZooKeeper gives its places back before the next turn counts them.
    await nextTick();
  }
  scope.pulse.resting(name);
}

async function oneTurn({ name, scope, turn, idleMs, pausable = true }: LoopParts, shutter: Shutter): Promise<number> {
  try {
    const closed = await scope.gate.closedBecause();
    shutter.show(closed);
    if (closed === "suspended" || (closed !== null && pausable)) {
      scope.probe({ kind: "closed", duty: name, why: closed });
      await lookAnyway(scope, closed);
      return WHILE_CLOSED_MS;
    }
    if (scope.stopping.aborted || (await turn())) return 0;
    scope.probe({ kind: "idle", duty: name });
    return idleMs();
  } catch (error) {
    scope.metrics.engineErrors.inc({ stage: scope.actor.stage });
    scope.log.error({ err: error, duty: name }, "a turn of the engine failed");
    return AFTER_DEFECT_MS;
  }
}

/** Paused is not blind: the worker still knows that its queue can be reached, and that the tree is the same. */
async function lookAnyway(scope: Scope, closed: ClosedReason): Promise<void> {
  if (scope.queue.session.state !== "connected") return;
  await scope.fleetIdGuard.check();
  if (closed !== "suspended") scope.pulse.sawQueue();
}

/** Claims that stop or go on are seen in a metric and, once for each change, in the log. */
class Shutter {
  readonly #scope: Scope;
  readonly #duty: string;
  #closed: ClosedReason | null = null;

  constructor(scope: Scope, duty: string) {
    this.#scope = scope;
    this.#duty = duty;
  }

  show(closed: ClosedReason | null): void {
    const { metrics, actor, log } = this.#scope;
    for (const reason of CLOSED_REASONS)
      metrics.claimsClosed.set({ stage: actor.stage, reason }, reason === closed ? 1 : 0);
    if (closed === this.#closed) return;
    this.#closed = closed;
    if (closed === null) log.info({ duty: this.#duty }, "claims go on");
    else log.info({ duty: this.#duty, reason: closed }, "no claims for now");
  }
}
