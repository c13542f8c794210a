/** The loop that every duty runs in: turn while there is something to do, else wait to be woken. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { ClosedReason } from "./gate.ts";
import { CLOSED_REASONS } from "./gate.ts";
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
  scope.gate.onChange(() => waker.wake());
  while (!scope.stopping.aborted) {
    scope.pulse.turned(name);
    const waitMs = await oneTurn(parts);
    if (waitMs > 0) await waker.wait(waitMs, scope.stopping);
    // All that was settled by one answer of ZooKeeper gives its places back before the next turn counts them.
    await nextTick();
  }
  scope.pulse.resting(name);
}

async function oneTurn({ name, scope, turn, idleMs, pausable = true }: LoopParts): Promise<number> {
  try {
    const closed = await scope.gate.closedBecause();
    showClosed(scope, closed);
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

function showClosed(scope: Scope, closed: ClosedReason | null): void {
  for (const reason of CLOSED_REASONS)
    scope.metrics.claimsClosed.set({ stage: scope.actor.stage, reason }, reason === closed ? 1 : 0);
}
