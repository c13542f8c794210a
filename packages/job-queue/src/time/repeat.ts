/** When a job runs again: BASE, MODIFIER[, MODIFIER…], or a canned schedule. */
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
