import { randomBytes } from "node:crypto";
import { openProfiles } from "@sluice/profile-store";
import { runService } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import { loadConfig } from "./config.ts";
import { noidMinter } from "./minter/noid-minter.ts";
import { noLocalIds } from "./parts.ts";
import { processingStage } from "./process.ts";
import { openStore } from "./store/open-store.ts";

const config = loadConfig(process.env);
const profiles = await openProfiles(config.PROFILES_DIR);

await runService({
  service: "processor",
  config,
  duties: async ({ clock }) => [
    processingStage({
      folder: await openWorkingFolder(config.WORKING_DIR),
      profiles,
      store: await openStore(config.STORAGE_URL, clock.nowMs()),
      minter: noidMinter(config.MINT_SHOULDER, randomBytes),
      localIds: noLocalIds,
      busyWaitMs: config.OBJECT_BUSY_WAIT_MS,
      diskFullWaitMs: config.DISK_FULL_WAIT_MS,
    }),
  ],
  close: () => profiles.close(),
});
