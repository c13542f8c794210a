/**
 * A scheduled deposit: the same submission at every run. The intake keeps in `sealed` what is submitted and by whom, and judges at
 * every run whether they still may. How many runs have ended stands in the job's data and changes in the transaction that ends a
 * run, so a run that is repeated, after a crash or a lost answer, is the same run to the intake: one batch.
 */
import type { Answer, Client } from "@sluice/client";
import { INTAKE } from "@sluice/wire";
import { z } from "zod";
import { outcomeOf } from "./calls.ts";
import { settingsOf } from "./data.ts";
import { EXIT, type FleetHandler, type FleetOutcome, outcome } from "./handler.ts";
import type { Pause } from "./patient.ts";

const DepositData = z.object({
  sealed: z.looseObject({}, "it does not say who made it: it must be scheduled anew"),
  /** Runs that have ended. */
  runs: z.int().min(0).default(0),
});

/** An intake that restarts is waited for: whoever repeats daily must not lose a day to it. */
const WAITS_MS = [1_000, 5_000, 15_000, 30_000, ...Array.from({ length: 10 }, () => 60_000)];

export function depositHandler(intake: Client, pause: Pause): FleetHandler {
  return async (job, signal) => {
    const settings = settingsOf(DepositData, job);
    if (!settings.ok) return settings.outcome;
    const { runs } = settings.value;
    const submit = () => intake.call(INTAKE.runSchedule, { params: { id: job.id }, body: { run: runs + 1 }, signal });
    let answer = await submit();
    for (const waitMs of WAITS_MS) {
      if (answer.ok || signal.aborted || outcomeOf(answer).exit !== EXIT.notNow) break;
      await pause(waitMs, signal);
      answer = await submit();
    }
    if (!answer.ok) return hasEnded(answer) ? endedFor(answer.refusal.detail) : outcomeOf(answer);
    const { id, bid, url } = answer.value;
    return { ...outcome(EXIT.done, { id, bid, url, run: runs + 1 }), data: { ...job.data, runs: runs + 1 } };
  };
}

type Refused = Extract<Answer<unknown>, { readonly ok: false; readonly kind: "refused" }>;

/** Whoever made it may not submit any more: another run would be refused, too. */
const hasEnded = (answer: Extract<Answer<unknown>, { readonly ok: false }>): answer is Refused =>
  answer.kind === "refused" && answer.refusal.code === "SCHEDULE_ENDED";

const endedFor = (why: string): FleetOutcome => ({ ...outcome(EXIT.ended, { why }), forGood: true });
