import type { CommitterHooks, SessionHooks, SessionState } from "@sluice/zookeeper";
import type { Log } from "../log.ts";
import type { RuntimeMetrics } from "./metrics.ts";

/** The client's word for a session that was closed by its owner. */
const CLOSED = "closed";
/** Before the first session there is nothing that could be lost. */
type Shown = SessionState | "connecting";
const STATES: readonly Shown[] = ["connecting", "connected", "suspended", "lost"];

/** Each change of the session is a line and a metric. */
export function sessionHooks(metrics: RuntimeMetrics, log: Log): SessionHooks {
  let before: Shown = "connecting";
  const show = (now: Shown): void => {
    for (const state of STATES) metrics.sessionState.set({ state }, state === now ? 1 : 0);
  };
  show(before);
  return {
    onOperation: (op, durationMs, code) => {
      metrics.callDuration.observe({ op }, durationMs / 1000);
      if (code !== "OK") metrics.callErrors.inc({ op, code });
    },
    onState: (state, why) => {
      show(state);
      if (state === "connected" && before === "suspended") metrics.reconnects.inc();
      // Ended by ourselves, at the end of our work: nothing was lost.
      const ended = state === "lost" && why === CLOSED;
      if (state === "lost" && !ended) metrics.sessionsLost.inc();
      if (state === "connected" || ended) log.info({ session: state, why }, "ZooKeeper session");
      else log.warn({ session: state, why }, "ZooKeeper session");
      before = state;
    },
  };
}

/** Whether the link breaks again and again: a line at each change. `sluice_zk_reconnects_total` counts, /readyz tells. */
export const flappingHook =
  (log: Log): ((flapping: boolean) => void) =>
  (flapping) => {
    if (flapping) log.warn("the link to ZooKeeper breaks again and again: not ready, reconnecting with longer pauses");
    else log.info("the link to ZooKeeper is steady again");
  };

export const committerHooks = (metrics: RuntimeMetrics): CommitterHooks => ({
  onGroup: (members, outcome) => metrics.groupMoves.observe({ outcome }, members),
});
