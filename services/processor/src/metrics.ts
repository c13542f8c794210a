import { makeInstruments, type MetricSpec, type ServiceParts } from "@sluice/stage-runtime";

export const PROCESSOR_METRICS = {
  inventoryAway: {
    type: "counter",
    name: "sluice_processor_inventory_away_total",
    help: "Jobs put off because the inventory could not be asked for local ids",
    labels: [],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

export function countInventoryAway(registry: ServiceParts["registry"]): () => void {
  const { inventoryAway } = makeInstruments(PROCESSOR_METRICS, registry);
  return () => inventoryAway.inc();
}
