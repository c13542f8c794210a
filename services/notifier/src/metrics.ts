import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import type { DeliveryHook } from "./delivery.ts";

export const NOTIFIER_METRICS = {
  callbacks: {
    type: "counter",
    name: "sluice_callback_total",
    help: "Callbacks tried, by outcome: accepted, later, refused",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

const OUTCOMES = ["accepted", "later", "refused"] as const satisfies Parameters<DeliveryHook>[0][];

export function countDeliveries(registry: Registry): DeliveryHook {
  const { callbacks } = makeInstruments(NOTIFIER_METRICS, registry);
  // Of a counter that appears with its first event, Prometheus does not see the first event.
  for (const outcome of OUTCOMES) callbacks.inc({ outcome }, 0);
  return (outcome) => callbacks.inc({ outcome });
}
