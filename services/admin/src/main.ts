import { openInventory } from "@sluice/inventory";
import { openProfiles } from "@sluice/profile-store";
import { makeLog, runService } from "@sluice/stage-runtime";
import { adminService } from "./admin-service.ts";
import { loadConfig } from "./config.ts";

const config = loadConfig(process.env);
const log = makeLog("admin", config.LOG_LEVEL);
const profiles = await openProfiles(config.PROFILES_DIR, {
  onProblem: ({ name, severity, message }) => log.warn({ profile: name, severity }, message),
});
const archive =
  config.INVENTORY_URL === undefined ? null : await openInventory(config.INVENTORY_URL, { checked: "first" });
const close = async (): Promise<void> => {
  await profiles.close();
  await archive?.close();
};

await runService(adminService(config, { profiles, archive, close, stamped: archive === null ? [] : [archive.stamp] }));
