/** The sessions in which this process owns shards: one in each ensemble, as soon as it shows the tree of this fleet. */
import { queueAccess } from "@sluice/queue-core";
import { type Log, Seldom, type ServiceParts } from "@sluice/stage-runtime";
import { type Clock, keepSession, type SessionKeeper } from "@sluice/zookeeper";
import { type Admit, AdmittedSessions, holdsQueue, type SessionSource, showsTree } from "./admitted-sessions.ts";
import type { JobApiConfig } from "./config.ts";

export interface Sessions {
  readonly first: SessionSource;
  readonly others: ReadonlyMap<string, SessionSource>;
  close(): Promise<void>;
}

const REMIND_EVERY_MS = 300_000;

export function openSessions(
  config: JobApiConfig,
  { clock, log, tree }: Pick<ServiceParts, "clock" | "log" | "tree">,
): Sessions {
  const keepers: SessionKeeper[] = [];
  const gates: AdmittedSessions[] = [];
  const keep = (connect: string, ensemble: string, admit: Admit): SessionSource => {
    const keeper = keepSession({
      connect,
      timeoutMs: config.ZK_SESSION_TIMEOUT_MS,
      access: queueAccess(config),
      clock,
      onTrouble: (why, retryInMs) =>
        log.warn({ ensemble, why, retry_in_ms: retryInMs }, "no session for the job queue"),
    });
    const gate = new AdmittedSessions(keeper, admit);
    keepers.push(keeper);
    gates.push(gate);
    return gate;
  };
  const first = keep(
    config.ZOOKEEPER_CONNECT,
    "",
    showsTree(() => tree()?.history ?? null),
  );
  const others = new Map(
    [...config.QUEUE_ENSEMBLES].map(([name, connect]) => [
      name,
      keep(connect, name, complaining(holdsQueue, name, { clock, log })),
    ]),
  );
  return {
    first,
    others,
    async close() {
      for (const gate of gates) gate.stop();
      await Promise.all(keepers.map((keeper) => keeper.close()));
    },
  };
}

/** The first ensemble's tree is complained about by the service itself. */
function complaining(admit: Admit, ensemble: string, { clock, log }: { clock: Clock; log: Log }): Admit {
  const reminders = new Seldom(clock, REMIND_EVERY_MS);
  return async (session) => {
    const admitted = await admit(session);
    if (!admitted && session.state === "connected" && reminders.isTime())
      log.error(
        { ensemble },
        "this ensemble holds no shards of the job queue: bring them back with `sluice restore`, or, if it is new, run `sluice init --zookeeper` for it",
      );
    return admitted;
  };
}
