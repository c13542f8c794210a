/** When a job runs again: BASE, MODIFIER[, MODIFIER…], or a canned schedule. */
import { MISSED_TIMES_MOST } from "../limits.ts";
import { applyModifiers, parseModifiers, type Modifier } from "./modifiers.ts";

const BASES = ["SCHEDULED", "STARTED", "FINISHED"] as const;
export type Base = (typeof BASES)[number];

export interface Repeat {
  readonly base: Base;
  readonly modifiers: readonly Modifier[];
}

const CANNED: Readonly<Record<string, string>> = {
  HOURLY: "FINISHED, +1 HOUR",
  DAILY: "FINISHED, +1 DAY",
  WEEKLY: "FINISHED, +7 DAYS",
};

const isBase = (text: string): text is Base => BASES.some((base) => base === text);

/** In any case. Null if malformed. */
export function parseRepeat(raw: string): Repeat | null {
  const word = raw.trim().toUpperCase();
  const text = Object.hasOwn(CANNED, word) ? (CANNED[word] ?? word) : word;
  const comma = text.indexOf(",");
  if (comma < 0) return null;
  const base = text.slice(0, comma).trim();
  const modifiers = parseModifiers(text.slice(comma + 1));
  return modifiers === null || !isBase(base) ? null : { base, modifiers };
}

/** The three moments that a schedule may count from. */
export interface Moments {
  readonly scheduled: number;
  readonly started: number;
  readonly finished: number;
}

/** Null when it would leave the calendar. Missed times are not skipped: SCHEDULED catches up. */
export function nextRunOf({ base, modifiers }: Repeat, moments: Moments): number | null {
  const from = { SCHEDULED: moments.scheduled, STARTED: moments.started, FINISHED: moments.finished }[base];
  return applyModifiers(from, modifiers);
}

/**
 * For schedules that make up for nothing: times that have passed are skipped, and a run begins no sooner than `leastMs` after the
 * one before it began. Now is when that one finished.
 */
export function nextPacedRunOf(repeat: Repeat, moments: Moments, leastMs: number): number | null {
  const next = nextRunOf(repeat, moments);
  const due = next === null || repeat.base !== "SCHEDULED" ? next : firstAfter(repeat, next, moments.finished);
  return due === null ? null : Math.max(due, moments.started + leastMs);
}

/** The first of its times that is still to come. Null: its times leave the calendar. */
function firstAfter({ modifiers }: Repeat, first: number, now: number): number | null {
  let at = first;
  for (let passed = 0; at <= now && passed < MISSED_TIMES_MOST; passed++) {
    const next = applyModifiers(at, modifiers);
    if (next === null) return null;
    // Times that do not go on lead nowhere.
    if (next <= at) return now;
    at = next;
  }
  return at > now ? at : applyModifiers(now, modifiers);
}
