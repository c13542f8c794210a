import type { CommitterHooks, SessionHooks, SessionState } from "@sluice/zookeeper";
import type { Log } from "../log.ts";
import type { RuntimeMetrics } from "./metrics.ts";

const STATES: readonly SessionState[] = ["connected", "suspended", "lost"];

/** Each change of the session is a line and a metric. */
export function sessionHooks(metrics: RuntimeMetrics, log: Log): SessionHooks {
  let before: SessionState = "lost";
  const show = (now: SessionState): void => {
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
      if (state === "lost") metrics.sessionsLost.inc();
      if (state === "connected") log.info({ session: state, why }, "ZooKeeper session");
      else log.warn({ session: state, why }, "ZooKeeper session");
      before = state;
    },
  };
}

export const committerHooks = (metrics: RuntimeMetrics): CommitterHooks => ({
  onGroup: (members, outcome) => metrics.groupMoves.observe({ outcome }, members),
});
