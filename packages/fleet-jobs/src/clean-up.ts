/** Orders the clean-up of batches that ended long ago. The reporter carries each order out; one that stands already is no news. */
import type { Client } from "@sluice/client";
import { ADMIN, type AnswerOf } from "@sluice/wire";
import { z } from "zod";
import { outcomeOf } from "./calls.ts";
import { DAY_MS, days, settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, type FleetOutcome, outcome } from "./handler.ts";

const Settings = z.object({ retentionDays: days(7) });
const OVER = ["Completed", "Deleted"] as const;
const REASON = "its retention time is over";
const PAGE = 200;

type Page = AnswerOf<typeof ADMIN.batches>;

interface Progress {
  ordered: number;
  standing: number;
}

export function cleanUpHandler(admin: Client, nowMs: () => number): FleetHandler {
  return async (job, signal) => {
    const settings = settingsOf(Settings, job);
    if (!settings.ok) return settings.outcome;
    const limitMs = nowMs() - settings.value.retentionDays * DAY_MS;
    const progress: Progress = { ordered: 0, standing: 0 };
    for (const state of OVER) {
      const stopped = await orderAll(admin, state, limitMs, progress, signal);
      if (stopped !== null) return stopped;
    }
    return outcome(EXIT.done, progress);
  };
}

async function orderAll(
  admin: Client,
  state: (typeof OVER)[number],
  limitMs: number,
  progress: Progress,
  signal: AbortSignal,
): Promise<FleetOutcome | null> {
  let cursor: string | undefined;
  do {
    const query = { state, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) };
    const page = await admin.call(ADMIN.batches, { query, signal });
    if (!page.ok) return outcomeOf(page);
    for (const batch of page.value.items.filter((each) => isOlder(each, limitMs))) {
      const stopped = await order(admin, batch.bid, progress, signal);
      if (stopped !== null) return stopped;
    }
    cursor = page.value.next_cursor ?? undefined;
  } while (cursor !== undefined && !signal.aborted);
  return null;
}

const isOlder = ({ last_modified }: Page["items"][number], limitMs: number): boolean =>
  last_modified !== null && Date.parse(last_modified) <= limitMs;

async function order(admin: Client, id: string, progress: Progress, signal: AbortSignal): Promise<FleetOutcome | null> {
  const body = { action: "clean-up", reason: REASON } as const;
  const answer = await admin.call(ADMIN.batchAction, { params: { id }, body, signal });
  if (answer.ok) progress.ordered++;
  // Ordered before, gone already, or alive again: each is somebody's else doing, and none stops the others.
  else if (answer.kind === "refused" && (answer.refusal.status === 409 || answer.refusal.status === 404)) {
    progress.standing++;
  } else return outcomeOf(answer);
  return null;
}
