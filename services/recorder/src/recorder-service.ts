/** The service as its duties, from its settings. */
import { type Inventory, openInventory } from "@sluice/inventory";
import { createEgress, policyOf } from "@sluice/safe-io";
import { type ServiceOptions, stampedOcflRoot } from "@sluice/stage-runtime";
import type { RecorderConfig } from "./config.ts";
import { countInventoryAway } from "./metrics.ts";
import { recordingStage } from "./record.ts";
import { openReader } from "./stored/open-reader.ts";

export function recorderService(config: RecorderConfig): ServiceOptions {
  const egress = createEgress({
    policy: policyOf(config),
    totalTimeoutMs: config.STORE_TIMEOUT_MS,
  });
  let inventory: Inventory | undefined;

  return {
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
  };
}
