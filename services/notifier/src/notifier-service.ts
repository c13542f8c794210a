/** The service as its duties, from its settings. */
import { openProfiles, type ProfileStore } from "@sluice/profile-store";
import { createEgress, policyOf } from "@sluice/safe-io";
import type { ServiceOptions } from "@sluice/stage-runtime";
import type { NotifierConfig } from "./config.ts";
import { notifierDuties } from "./duties.ts";
import { countDeliveries } from "./metrics.ts";

export function notifierService(config: NotifierConfig): ServiceOptions {
  const egress = createEgress({
    policy: policyOf(config),
    totalTimeoutMs: config.CALLBACK_TIMEOUT_MS,
  });

  let profiles: ProfileStore | undefined;

  return {
    service: "notifier",
    config,
    duties: async ({ registry, log }) => {
      const onProblem = (problem: object): void => log.warn(problem, "something is wrong with a profile");
      profiles = await openProfiles(config.PROFILES_DIR, { onProblem });
      return notifierDuties(config, { profiles, egress, onDelivery: countDeliveries(registry) });
    },
    close: async () => {
      await Promise.all([profiles?.close(), egress.close()]);
    },
  };
}
