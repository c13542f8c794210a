import { callbackNoteOps, readJob } from "@sluice/queue-core";
import type { Duty } from "@sluice/stage-runtime";
import type { NotifierConfig } from "./config.ts";
import { failedInbox, type FailedInboxParts } from "./failed-inbox.ts";
import { notifyStage } from "./notify-stage.ts";

type Settings = Pick<NotifierConfig, "ATTEMPTS_MAX" | "FAILED_CALLBACK_GIVE_UP_MS" | "PERSISTENT_URL_BASE">;
type Parts = Pick<FailedInboxParts, "profiles" | "egress" | "onDelivery">;

export function notifierDuties(config: Settings, given: Parts): readonly Duty[] {
  const parts = { ...given, persistentUrlBase: config.PERSISTENT_URL_BASE ?? null };
  return [
    notifyStage({ ...parts, attemptsMax: config.ATTEMPTS_MAX }),
    failedInbox({
      ...parts,
      readSubject: (queue, id) => readJob(queue.session, id),
      note: (queue, id, record, end) => callbackNoteOps(queue.session, id, record, end),
      giveUpAfterMs: config.FAILED_CALLBACK_GIVE_UP_MS,
    }),
  ];
}
