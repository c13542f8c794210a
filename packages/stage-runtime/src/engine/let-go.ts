/** A lock that its owner cannot let go keeps others out for as long as the session lives: so the session ends. */
import { setTimeout as pause } from "node:timers/promises";
import { isLost, type Scope } from "./scope.ts";

const TRIES_MAX = 3;
const PAUSE_MS = 500;

export type LetGoScope = Pick<Scope, "queue" | "log" | "metrics" | "actor">;

/** Gives back what is in hand, again if the tree refuses it; the answer says what became of it in the end. */
export async function letGo<R extends { readonly kind: string }>(
  scope: LetGoScope,
  what: object,
  giveBack: () => Promise<R>,
): Promise<R | { readonly kind: "lost" }> {
  for (let tries = 1; !isLost(scope); tries++) {
    const result = await attempt(scope, what, giveBack);
    if (result !== null && result.kind !== "refused" && result.kind !== "guarded") return result;
    if (tries >= TRIES_MAX) await endSession(scope, what);
    else await pause(PAUSE_MS, undefined, { signal: scope.queue.session.lost }).catch(() => undefined);
  }
  return { kind: "lost" };
}

async function attempt<R>(scope: LetGoScope, what: object, giveBack: () => Promise<R>): Promise<R | null> {
  try {
    return await giveBack();
  } catch (error) {
    scope.log.error({ ...what, err: error }, "the engine could not give back what it had in hand");
    return null;
  }
}

async function endSession({ queue, log, metrics, actor }: LetGoScope, what: object): Promise<void> {
  metrics.engineErrors.inc({ stage: actor.stage });
  log.error(what, "a lock could not be let go: the session ends, and the lock with it");
  await queue.session.close();
}
