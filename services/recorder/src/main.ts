import { type Inventory, openInventory } from "@sluice/inventory";
import { createEgress, policyOf } from "@sluice/safe-io";
import { runService, stampedOcflRoot } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { countInventoryAway } from "./metrics.ts";
import { recordingStage } from "./record.ts";
import { openReader } from "./stored/open-reader.ts";

const config = loadConfig(process.env);
const egress = createEgress({
  policy: policyOf(config),
  totalTimeoutMs: config.STORE_TIMEOUT_MS,
});
let inventory: Inventory | undefined;

await runService({
  service: "recorder",
  config,
  duties: async ({ registry }) => {
    inventory = await openInventory(config.INVENTORY_URL, { checked: "first" });
    return [
      recordingStage({
        reader: openReader(config.STORAGE_URL, egress),
        inventory,
        busyWaitMs: config.OBJECT_BUSY_WAIT_MS,
        inventoryAwayWaitMs: config.INVENTORY_AWAY_WAIT_MS,
        onInventoryAway: countInventoryAway(registry),
      }),
    ];
  },
  stamped: () => [
    ...(inventory === undefined ? [] : [inventory.stamp]),
    ...(config.STORAGE_URL.kind === "ocfl" ? [stampedOcflRoot(config.STORAGE_URL.folder, { writes: false })] : []),
  ],
  close: async () => {
    await Promise.all([inventory?.close(), egress.close()]);
  },
});
