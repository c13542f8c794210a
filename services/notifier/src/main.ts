import { openProfiles } from "@sluice/profile-store";
import { createEgress, policyOf } from "@sluice/safe-io";
import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { notifierDuties } from "./duties.ts";
import { countDeliveries } from "./metrics.ts";

const config = loadConfig(process.env);
const egress = createEgress({
  policy: policyOf(config),
  totalTimeoutMs: config.CALLBACK_TIMEOUT_MS,
});

await runService({
  service: "notifier",
  config,
  duties: async ({ registry, log }) => {
    const onProblem = (problem: object): void => log.warn(problem, "something is wrong with a profile");
    const profiles = await openProfiles(config.PROFILES_DIR, { onProblem });
    return notifierDuties(config, { profiles, egress, onDelivery: countDeliveries(registry) });
  },
  close: () => egress.close(),
});
