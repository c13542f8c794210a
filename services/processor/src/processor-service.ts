/** The service as its duties, from its settings. */
import { openInventory } from "@sluice/inventory";
import { openProfiles } from "@sluice/profile-store";
import { createEgress, policyOf } from "@sluice/safe-io";
import { type ServiceOptions, stampedFolder, stampedOcflRoot } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import type { ProcessorConfig } from "./config.ts";
import { countInventoryAway } from "./metrics.ts";
import { openMinter } from "./minter/open-minter.ts";
import { processingStage } from "./process.ts";
import { openStore } from "./store/open-store.ts";
import { workingUrl } from "./store/working-url.ts";

export async function processorService(config: ProcessorConfig): Promise<ServiceOptions> {
  const policy = policyOf(config);
  const egress = createEgress({ policy, totalTimeoutMs: config.MINT_TIMEOUT_MS });
  // It says nothing while it fetches what it is to store.
  const storeEgress = createEgress({
    policy,
    totalTimeoutMs: config.STORE_TIMEOUT_MS,
    idleTimeoutMs: config.STORE_TIMEOUT_MS,
  });
  const urlOf = workingUrl(config.WORKING_DIR, config.WORKING_ACCESS_URL);
  const profiles = await openProfiles(config.PROFILES_DIR);
  const inventory = await openInventory(config.INVENTORY_URL, { checked: "first" });

  return {
    service: "processor",
    config,
    duties: async ({ clock, registry }) => [
      processingStage({
        folder: await openWorkingFolder(config.WORKING_DIR),
        profiles,
        store: await openStore(config.STORAGE_URL, { nowMs: clock.nowMs(), egress: storeEgress, urlOf }),
        urlOf,
        minter: openMinter(config.MINT_URL, {
          egress,
          account: config.EZID_CREDENTIALS,
          target: config.MINT_TARGET_URL,
        }),
        localIds: inventory,
        busyWaitMs: config.OBJECT_BUSY_WAIT_MS,
        diskFullWaitMs: config.DISK_FULL_WAIT_MS,
        inventoryAwayWaitMs: config.INVENTORY_AWAY_WAIT_MS,
        onInventoryAway: countInventoryAway(registry),
      }),
    ],
    stamped: () => [
      stampedFolder({ name: "the working folder", folder: config.WORKING_DIR }),
      inventory.stamp,
      ...(config.STORAGE_URL.kind === "ocfl" ? [stampedOcflRoot(config.STORAGE_URL.folder)] : []),
    ],
    close: async () => {
      await Promise.all([profiles.close(), inventory.close(), egress.close(), storeEgress.close()]);
    },
  };
}
