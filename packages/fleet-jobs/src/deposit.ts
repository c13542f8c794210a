/**
 * A scheduled deposit: the same submission at every run. How many runs have ended stands in the job's data and changes in the
 * transaction that ends a run, so a run that is repeated, after a crash or a lost answer, submits under the same key: one batch.
 */
import type { Client } from "@sluice/client";
import { INTAKE, NewBatch } from "@sluice/wire";
import { z } from "zod";
import { outcomeOf } from "./calls.ts";
import { settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, outcome } from "./handler.ts";
import type { Pause } from "./patient.ts";

export const DepositData = z.object({
  batch: NewBatch,
  /** Runs that have ended. */
  runs: z.int().min(0).default(0),
  /** Names the schedule where its maker gave it a name of their own; the job's number does otherwise. */
  key: z.string().max(128).optional(),
  scheduled_by: z.string().optional(),
});
export type DepositData = z.infer<typeof DepositData>;

export const depositKey = (jobId: number, { key, runs }: Pick<DepositData, "key" | "runs">): string =>
  `scheduled-${key ?? `job-${jobId}`}-run-${runs + 1}`;

/** An intake that restarts is waited for: whoever repeats daily must not lose a day to it. */
const WAITS_MS = [1_000, 5_000, 15_000, 30_000, ...Array.from({ length: 10 }, () => 60_000)];

export function depositHandler(intake: Client, pause: Pause): FleetHandler {
  return async (job, signal) => {
    const settings = settingsOf(DepositData, job);
    if (!settings.ok) return settings.outcome;
    const { batch, runs } = settings.value;
    const idempotencyKey = depositKey(job.id, settings.value);
    const submit = () => intake.call(INTAKE.submitBatch, { body: batch, idempotencyKey, signal });
    let answer = await submit();
    for (const waitMs of WAITS_MS) {
      if (answer.ok || signal.aborted || outcomeOf(answer).exit !== EXIT.notNow) break;
      await pause(waitMs, signal);
      answer = await submit();
    }
    if (!answer.ok) return outcomeOf(answer);
    const { id, bid, url } = answer.value;
    return { ...outcome(EXIT.done, { id, bid, url, run: runs + 1 }), data: { ...job.data, runs: runs + 1 } };
  };
}
