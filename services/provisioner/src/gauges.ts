import type { Survey } from "@sluice/stage-runtime";
import { Gauge, type Registry } from "prom-client";

export interface StorageGauges {
  readonly observe: (survey: Survey, reservedBytes: number) => void;
}

/** What the last round of decisions was based on. */
export function storageGauges(registry: Registry): StorageGauges {
  const gauge = new Gauge({
    name: "sluice_working_storage_bytes",
    help: "The working volume: its size, what is free, and what admitted jobs were promised",
    labelNames: ["kind"],
    registers: [registry],
  });
  return {
    observe(survey, reservedBytes) {
      gauge.set({ kind: "total" }, survey.totalBytes);
      gauge.set({ kind: "free" }, survey.freeBytes);
      gauge.set({ kind: "reserved" }, reservedBytes);
    },
  };
}
