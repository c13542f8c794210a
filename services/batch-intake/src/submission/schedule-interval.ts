/** When a schedule would run, judged before it is made. Pure. The queue keeps the least interval at every run besides. */
import { nextRunOf, parseRepeat, parseTime, type Repeat } from "@sluice/job-queue";
import type { FieldProblem } from "./field-problem.ts";

export interface Times {
  readonly firstRun?: string | undefined;
  readonly repeat?: string | undefined;
}

/** A request may come a little late, or once more with the same key. */
const PAST_MAX_MS = 24 * 3_600_000;
/** Enough to see a week of quarters of an hour. */
const RUNS_LOOKED_AT = 1_000;
/** Months and years have different lengths: four years of them hold all but the turns of centuries. */
const MONTHS_LOOKED_AT = 48;
const DAYS_LOOKED_AT = [1, 15, 29, 31];
const RUNS_FROM_EACH_DAY = 30;

/** Nothing about what is no time or no schedule at all: the queue says so in its own words. */
export function timeProblems({ firstRun, repeat }: Times, leastMs: number, nowMs: number): readonly FieldProblem[] {
  const first = firstRun === undefined ? null : parseTime(queueTime(firstRun));
  if (first !== null && first < nowMs - PAST_MAX_MS)
    return [
      {
        field: "firstRun",
        detail: "is more than a day in the past: leave it out to run now, or give a time to come",
      },
    ];
  const schedule = repeat === undefined ? null : parseRepeat(repeat);
  if (schedule === null || !comesTooClose(schedule, first ?? nowMs, leastMs)) return [];
  const detail = `would run more often than every ${leastMs / 1_000} seconds, which is the least, or could at some time of a year`;
  return [{ field: "repeat", detail }];
}

/** RFC 3339 as the queue writes times; whatever else it is, the queue judges it. */
export const queueTime = (text: string): string =>
  /^\d{4}-\d\d-\d\dT.*(Z|[+-]\d\d:\d\d)$/.test(text) && !Number.isNaN(Date.parse(text))
    ? new Date(text).toISOString().slice(0, 19).replace("T", " ")
    : text;

function comesTooClose(repeat: Repeat, first: number, leastMs: number): boolean {
  if (isCloseFrom(repeat, first, leastMs, RUNS_LOOKED_AT)) return true;
  return (
    hasCalendarParts(repeat) && daysFrom(first).some((day) => isCloseFrom(repeat, day, leastMs, RUNS_FROM_EACH_DAY))
  );
}

const hasCalendarParts = ({ modifiers }: Repeat): boolean =>
  modifiers.some((each) => each.kind === "add" && (each.unit === "MONTH" || each.unit === "YEAR"));

/** From any of them a run may be late, and count on from there. */
function daysFrom(first: number): readonly number[] {
  const from = new Date(first);
  return Array.from({ length: MONTHS_LOOKED_AT }, (_, n) => from.getUTCMonth() + n).flatMap((month) =>
    DAYS_LOOKED_AT.map((day) => Date.UTC(from.getUTCFullYear(), month, day, from.getUTCHours(), from.getUTCMinutes())),
  );
}

function isCloseFrom(repeat: Repeat, first: number, leastMs: number, runs: number): boolean {
  const after = (at: number): number | null => nextRunOf(repeat, { scheduled: at, started: at, finished: at });
  // To the second run is no interval yet: it may be what brings the schedule to its times of the day.
  let at = after(first);
  for (let run = 0; run < runs && at !== null; run++) {
    const next = after(at);
    if (next !== null && next - at < leastMs) return true;
    at = next;
  }
  return false;
}
