import { type Inventory, openInventory } from "@sluice/inventory";
import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { recordingStage } from "./record.ts";
import { openReader } from "./stored/open-reader.ts";

const config = loadConfig(process.env);
let inventory: Inventory | undefined;

await runService({
  service: "recorder",
  config,
  duties: async () => {
    inventory = await openInventory(config.INVENTORY_URL);
    const reader = openReader(config.STORAGE_URL);
    return [recordingStage({ reader, inventory, busyWaitMs: config.OBJECT_BUSY_WAIT_MS })];
  },
  close: async () => inventory?.close(),
});
