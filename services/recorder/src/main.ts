import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { openInventory } from "./inventory/open-inventory.ts";
import { recordingStage } from "./record.ts";
import { openReader } from "./stored/open-reader.ts";

const config = loadConfig(process.env);
const inventory = await openInventory(config.INVENTORY_URL);

await runService({
  service: "recorder",
  config,
  duties: [
    recordingStage({
      reader: openReader(config.STORAGE_URL),
      inventory,
      busyWaitMs: config.OBJECT_BUSY_WAIT_MS,
    }),
  ],
  close: () => inventory.close(),
});
