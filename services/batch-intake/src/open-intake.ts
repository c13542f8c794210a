/** The service with all that it opens, from its settings. */
import { hostname } from "node:os";
import { openInventory } from "@sluice/inventory";
import { openProfiles } from "@sluice/profile-store";
import { createEgress, openCredentials, policyOf } from "@sluice/safe-io";
import { makeFailpoints, makeLog, type ServiceOptions } from "@sluice/stage-runtime";
import { openAcceptedBatches, openBatchFolders, openWorkingFolder } from "@sluice/working-folder";
import type { Clock } from "@sluice/zookeeper";
import type { IntakeConfig } from "./config.ts";
import { openIncoming } from "./files/incoming.ts";
import { intakeService } from "./intake-service.ts";
import { openBacklog } from "./journal/open-backlog.ts";

export async function openIntake(config: IntakeConfig, clock: Clock): Promise<ServiceOptions> {
  const log = makeLog("batch-intake", config.LOG_LEVEL);
  const egress = createEgress({
    policy: policyOf(config),
    credentials: await openCredentials(config.DOWNLOAD_AUTH_FILE, (problem) => log.warn({ problem }, "credentials")),
  });
  const working = await openWorkingFolder(config.WORKING_DIR);
  const folders = await openBatchFolders(config.WORKING_DIR);
  const accepted = await openAcceptedBatches(config.WORKING_DIR);
  const incoming = await openIncoming(config.WORKING_DIR);
  const failpoint = makeFailpoints("batch-intake", config.FAILPOINTS);
  const journaled = await openBacklog(config, { clock, log, failpoint });
  const profiles = await openProfiles(config.PROFILES_DIR, {
    onProblem: ({ name, severity, message }) => log.warn({ profile: name, severity }, message),
  });
  const archive =
    config.INVENTORY_URL === undefined ? null : await openInventory(config.INVENTORY_URL, { checked: "first" });
  return intakeService({
    ...{ config, egress, working, folders, accepted, incoming, profiles, journaled, archive },
    hostname: hostname(),
  });
}
