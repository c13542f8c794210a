/** The sessions in which this process owns shards: one in each ensemble. */
import { queueAccess } from "@sluice/queue-core";
import type { Log } from "@sluice/stage-runtime";
import { type Clock, keepSession, type SessionKeeper } from "@sluice/zookeeper";
import type { JobApiConfig } from "./config.ts";

export interface Sessions {
  readonly first: SessionKeeper;
  readonly others: ReadonlyMap<string, SessionKeeper>;
  close(): Promise<void>;
}

export function openSessions(config: JobApiConfig, clock: Clock, log: Log): Sessions {
  const keep = (connect: string, ensemble: string): SessionKeeper =>
    keepSession({
      connect,
      timeoutMs: config.ZK_SESSION_TIMEOUT_MS,
      access: queueAccess(config),
      clock,
      onTrouble: (why, retryInMs) =>
        log.warn({ ensemble, why, retry_in_ms: retryInMs }, "no session for the job queue"),
    });
  const first = keep(config.ZOOKEEPER_CONNECT, "");
  const others = new Map([...config.QUEUE_ENSEMBLES].map(([name, connect]) => [name, keep(connect, name)]));
  return {
    first,
    others,
    async close() {
      await Promise.all([first, ...others.values()].map((keeper) => keeper.close()));
    },
  };
}
