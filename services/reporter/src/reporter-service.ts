/** The service as its duties, from its settings. */
import { type Inventory, openInventory } from "@sluice/inventory";
import { openProfiles, type ProfileStore } from "@sluice/profile-store";
import { type ServiceOptions, stampedFolder } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import type { ReporterConfig } from "./config.ts";
import { reporterDuties } from "./duties.ts";
import { reporterCounters } from "./metrics.ts";
import { openMailer } from "./open-mailer.ts";

export function reporterService(config: ReporterConfig): ServiceOptions {
  const mailer = openMailer(config.MAIL_URL, {
    from: config.MAIL_FROM,
    replyTo: config.MAIL_REPLY_TO ?? null,
    bcc: config.MAIL_BCC,
  });
  let inventory: Inventory | undefined;
  let profiles: ProfileStore | undefined;

  return {
    service: "reporter",
    config,
    duties: async ({ registry, log, queue }) => {
      const onProblem = (problem: object): void => log.warn(problem, "something is wrong with a profile");
      profiles = await openProfiles(config.PROFILES_DIR, { onProblem });
      inventory = await openInventory(config.INVENTORY_URL, { checked: "first" });
      const { onMail, holds, onCleaner, onShortened, onBeside } = reporterCounters(registry);
      return reporterDuties(config, {
        postman: { profiles, mailer, subjectTag: config.MAIL_SUBJECT_TAG, onMail },
        holds,
        onCleaner,
        onShortened,
        onBeside,
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
      await Promise.all([profiles?.close(), inventory?.close()]);
    },
  };
}
