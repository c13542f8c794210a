/** The journal as parts of the service: what empties it, and what it says about being ready. */
import type { BatchPlace } from "@sluice/queue-core";
import type { ExtraServer, ServiceParts, StandIn } from "@sluice/stage-runtime";
import type { KeepAccepted } from "../files/accepted-records.ts";
import { journalMetrics } from "../metrics.ts";
import { makeIntakeQueue } from "../intake-queue.ts";
import { makeQueueReader } from "../queue-reader.ts";
import { Ingester } from "./ingester.ts";
import type { OpenBacklog } from "./open-backlog.ts";

export function ingesterServer(
  opened: OpenBacklog,
  removeBatchFolder: (batch: BatchPlace) => Promise<void>,
  keepAccepted: KeepAccepted,
  { clock, log, registry, queue, aborting }: ServiceParts,
  drain: boolean,
): ExtraServer {
  const metrics = journalMetrics(registry);
  metrics.damaged.inc(opened.missing);
  const reader = makeQueueReader(() => queue()?.context ?? null);
  const ports = { queue: makeIntakeQueue(queue, keepAccepted), reader, removeBatchFolder, clock };
  const ingester = new Ingester({ ...opened, ...ports, log, metrics });
  const onStopped = (error: unknown): void => log.error({ err: error }, "the journal's reader did not stop well");
  return {
    name: "journal",
    start() {
      ingester.start();
      // The journal is closed soon after, whoever still has not stopped.
      aborting.addEventListener("abort", () => void ingester.stop().catch(onStopped), { once: true });
      return Promise.resolve();
    },
    stop: () => (drain ? ingester.drain(aborting) : ingester.stop()),
  };
}

/** Ready without ZooKeeper: what comes is journaled, until there is no room. */
export function journalCheck({ journal }: OpenBacklog): StandIn {
  const { records, full, broken } = journal.stats();
  const detail = broken ?? `${records} submissions wait${full ? ", and there is no room for more" : ""}`;
  return { name: "journal", ok: !full && broken === null, detail };
}
