import { type Inventory, openInventory } from "@sluice/inventory";
import { openProfiles } from "@sluice/profile-store";
import { runService, stampedFolder } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import { loadConfig } from "./config.ts";
import { reporterDuties } from "./duties.ts";
import { reporterCounters } from "./metrics.ts";
import { openMailer } from "./open-mailer.ts";

const config = loadConfig(process.env);
const mailer = openMailer(config.MAIL_URL, {
  from: config.MAIL_FROM,
  replyTo: config.MAIL_REPLY_TO ?? null,
  bcc: config.MAIL_BCC,
});
let inventory: Inventory | undefined;

await runService({
  service: "reporter",
  config,
  duties: async ({ registry, log, queue }) => {
    const onProblem = (problem: object): void => log.warn(problem, "something is wrong with a profile");
    const profiles = await openProfiles(config.PROFILES_DIR, { onProblem });
    inventory = await openInventory(config.INVENTORY_URL, { checked: "first" });
    const { onMail, holds, onCleaner, onShortened } = reporterCounters(registry);
    return reporterDuties(config, {
      postman: { profiles, mailer, subjectTag: config.MAIL_SUBJECT_TAG, onMail },
      holds,
      onCleaner,
      onShortened,
      folders: await openWorkingFolder(config.WORKING_DIR),
      archive: inventory,
      queue: () => queue()?.context ?? null,
    });
  },
  stamped: () => [
    stampedFolder({ name: "the working folder", folder: config.WORKING_DIR }),
    ...(inventory === undefined ? [] : [inventory.stamp]),
  ],
  close: async () => {
    mailer.close();
    await inventory?.close();
  },
});
