/** How often a schedule would run, told before it is made. Pure. */
import { nextRunOf, parseRepeat } from "@sluice/job-queue";

/** Enough to see a year of months, or a day of hours. */
const RUNS_LOOKED_AT = 24;

/** null: not too often, or no schedule at all, which the queue says in its own words. */
export function intervalProblem(repeat: string | undefined, leastMs: number, nowMs: number): string | null {
  const schedule = repeat === undefined ? null : parseRepeat(repeat);
  if (schedule === null) return null;
  // From now to the first is no interval: only from run to run.
  let at = nextRunOf(schedule, { scheduled: nowMs, started: nowMs, finished: nowMs });
  for (let run = 0; run < RUNS_LOOKED_AT && at !== null; run++) {
    const next = nextRunOf(schedule, { scheduled: at, started: at, finished: at });
    if (next !== null && next - at < leastMs)
      return `would run more often than every ${leastMs / 1_000} seconds, which is the least`;
    at = next;
  }
  return null;
}
