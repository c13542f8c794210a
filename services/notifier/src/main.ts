import { openProfiles } from "@sluice/profile-store";
import { readJob } from "@sluice/queue-core";
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { runService } from "@sluice/stage-runtime";
import { loadConfig } from "./config.ts";
import { failedInbox } from "./failed-inbox.ts";
import { countDeliveries } from "./metrics.ts";
import { notifyStage } from "./notify-stage.ts";

const config = loadConfig(process.env);
const profiles = await openProfiles(config.PROFILES_DIR);
const egress = createEgress({
  policy: config.ALLOW_LOOPBACK ? { ...PUBLIC_ONLY, allow: LOOPBACK } : PUBLIC_ONLY,
  totalTimeoutMs: config.CALLBACK_TIMEOUT_MS,
});

await runService({
  service: "notifier",
  config,
  duties: ({ registry }) => {
    const parts = { profiles, egress, onDelivery: countDeliveries(registry) };
    return [
      notifyStage({ ...parts, attemptsMax: config.ATTEMPTS_MAX }),
      failedInbox({
        ...parts,
        readSubject: (queue, id) => readJob(queue.session, id),
        giveUpAfterMs: config.FAILED_CALLBACK_GIVE_UP_MS,
      }),
    ];
  },
  close: async () => {
    await egress.close();
    await profiles.close();
  },
});
