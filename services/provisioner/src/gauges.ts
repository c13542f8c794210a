import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import type { ProvisioningParts } from "./provision.ts";

export const PROVISIONER_METRICS = {
  storage: {
    type: "gauge",
    name: "sluice_working_storage_bytes",
    help: "The working volume at the last round of decisions: total, free, reserved for admitted jobs",
    labels: ["kind"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

/** Shows what the last round of decisions was based on. */
export function storageGauges(registry: Registry): ProvisioningParts["onRound"] {
  const { storage } = makeInstruments(PROVISIONER_METRICS, registry);
  return (survey, reservedBytes) => {
    storage.set({ kind: "total" }, survey.totalBytes);
    storage.set({ kind: "free" }, survey.freeBytes);
    storage.set({ kind: "reserved" }, reservedBytes);
  };
}
