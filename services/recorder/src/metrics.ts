import { makeInstruments, type MetricSpec, type ServiceParts } from "@sluice/stage-runtime";

export const RECORDER_METRICS = {
  inventoryAway: {
    type: "counter",
    name: "sluice_recorder_inventory_away_total",
    help: "Jobs put off because the inventory database was away, locked or full",
    labels: [],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

export function countInventoryAway(registry: ServiceParts["registry"]): () => void {
  const { inventoryAway } = makeInstruments(RECORDER_METRICS, registry);
  return () => inventoryAway.inc();
}
