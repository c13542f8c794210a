import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import type { PostmanParts } from "./postman.ts";
import type { EndedHoldsParts } from "./sweeps/ended-holds.ts";

export const REPORTER_METRICS = {
  mails: {
    type: "counter",
    name: "sluice_mail_sent_total",
    help: "Reports to be mailed, by outcome: sent, later, refused, nobody (no address to send to)",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
  lifted: {
    type: "counter",
    name: "sluice_holds_lifted_total",
    help: "Holds and pauses that were lifted because their time was over, by kind: collection, queue, stage, worker",
    labels: ["kind"],
    exportedBy: "each worker",
  },
  released: {
    type: "counter",
    name: "sluice_parked_released_total",
    help: "Jobs and batches released because the time of the hold that parked them was over, by what",
    labels: ["what"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

const OUTCOMES = ["sent", "later", "refused", "nobody"] as const satisfies Parameters<ReporterCounters["onMail"]>[0][];

export interface ReporterCounters {
  readonly onMail: NonNullable<PostmanParts["onMail"]>;
  readonly holds: EndedHoldsParts;
}

export function reporterCounters(registry: Registry): ReporterCounters {
  const { mails, lifted, released } = makeInstruments(REPORTER_METRICS, registry);
  // Of a counter that appears with its first event, Prometheus does not see the first event.
  for (const outcome of OUTCOMES) mails.inc({ outcome }, 0);
  return {
    onMail: (outcome) => mails.inc({ outcome }),
    holds: { onLifted: (kind) => lifted.inc({ kind }), onReleased: (what, count) => released.inc({ what }, count) },
  };
}
