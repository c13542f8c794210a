import { type MetricSpec, type Survey } from "@sluice/stage-runtime";
import { Gauge, type Registry } from "prom-client";
import type { ProvisioningParts } from "./provision.ts";

export const PROVISIONER_METRICS = {
  storage: {
    type: "gauge",
    name: "sluice_working_storage_bytes",
    help: "The working volume: total and free as of now, reserved for admitted jobs at the last round of decisions",
    labels: ["kind"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

/**
 * The volume is looked at for every scrape: it fills up also while nobody waits to be let on. When it cannot be looked at there is
 * no value, which is better than an old one. What is promised is known only from rounds of decisions.
 */
export function storageGauges(registry: Registry, survey: () => Promise<Survey>): ProvisioningParts["onRound"] {
  const { name, help, labels } = PROVISIONER_METRICS.storage;
  let reserved: number | null = null;
  const gauge = new Gauge({
    name,
    help,
    labelNames: labels,
    registers: [registry],
    async collect() {
      const seen = await survey().catch(() => null);
      gauge.reset();
      if (seen !== null) {
        gauge.set({ kind: "total" }, seen.totalBytes);
        gauge.set({ kind: "free" }, seen.freeBytes);
      }
      if (reserved !== null) gauge.set({ kind: "reserved" }, reserved);
    },
  });
  return (reservedBytes) => {
    reserved = reservedBytes;
  };
}
