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

export function countDeliveries(registry: Registry): DeliveryHook {
  const { callbacks } = makeInstruments(NOTIFIER_METRICS, registry);
  return (outcome) => callbacks.inc({ outcome });
}
