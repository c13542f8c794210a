/**
 * The date modifiers of SQLite that schedules are written in, with SQLite's own arithmetic: UTC, left to right, a month
 * added to the 31st may end in the month after the next, and a weekday that is today stays today. START OF HOUR is ours.
 */
import { inCalendar, mod, utc } from "./timestamp.ts";

type Unit = "SECOND" | "MINUTE" | "HOUR" | "DAY" | "MONTH" | "YEAR";
type Period = "HOUR" | "DAY" | "MONTH" | "YEAR";

export type Modifier =
  | { readonly kind: "add"; readonly amount: number; readonly unit: Unit }
  | { readonly kind: "start"; readonly of: Period }
  | { readonly kind: "weekday"; readonly day: number };

const DAY_MS = 86_400_000;
const UNIT_MS = { SECOND: 1000, MINUTE: 60_000, HOUR: 3_600_000, DAY: DAY_MS } as const;

/** The document writes its canned schedules with a space behind the sign. */
const ADD = /^([+-]) ?(\d{1,8}) (SECOND|MINUTE|HOUR|DAY|MONTH|YEAR)S?$/;
const START = /^START OF (HOUR|DAY|MONTH|YEAR)$/;
const WEEKDAY = /^WEEKDAY ([0-6])$/;
/** Only seconds come in millions. */
const MAX_DIGITS = 3;

/** In any case. Null if it is none. */
export function parseModifier(raw: string): Modifier | null {
  const text = raw.trim().toUpperCase();
  const [, sign, digits, unit] = ADD.exec(text) ?? [];
  if (digits !== undefined && unit !== undefined) {
    const fits = unit === "SECOND" || digits.length <= MAX_DIGITS;
    return fits ? { kind: "add", amount: Number(`${sign ?? ""}${digits}`), unit: unit as Unit } : null;
  }
  const [, period] = START.exec(text) ?? [];
  if (period !== undefined) return { kind: "start", of: period as Period };
  const [, day] = WEEKDAY.exec(text) ?? [];
  return day === undefined ? null : { kind: "weekday", day: Number(day) };
}

/** Comma-separated, at least one; null if any is malformed. */
export function parseModifiers(raw: string): readonly Modifier[] | null {
  const modifiers: Modifier[] = [];
  for (const part of raw.split(",")) {
    const modifier = parseModifier(part);
    if (modifier === null) return null;
    modifiers.push(modifier);
  }
  return modifiers;
}

/** Null when a step leaves the calendar, as SQLite's answer would be NULL. */
export function applyModifiers(from: number, modifiers: readonly Modifier[]): number | null {
  let ms = from;
  for (const modifier of modifiers) {
    ms = applyModifier(ms, modifier);
    if (!inCalendar(ms)) return null;
  }
  return ms;
}

function applyModifier(ms: number, modifier: Modifier): number {
  switch (modifier.kind) {
    case "add":
      return add(ms, modifier.amount, modifier.unit);
    case "start":
      return startOf(ms, modifier.of);
    case "weekday":
      return ms + mod(modifier.day - new Date(ms).getUTCDay(), 7) * DAY_MS;
  }
}

function add(ms: number, amount: number, unit: Unit): number {
  if (unit !== "MONTH" && unit !== "YEAR") return ms + amount * UNIT_MS[unit];
  const date = new Date(ms);
  const months = unit === "YEAR" ? amount * 12 : amount;
  // A day that the new month has not runs over into the next one.
  return utc(date.getUTCFullYear(), date.getUTCMonth() + months, date.getUTCDate(), mod(ms, DAY_MS));
}

function startOf(ms: number, period: Period): number {
  if (period === "HOUR" || period === "DAY") return ms - mod(ms, UNIT_MS[period]);
  const date = new Date(ms);
  return utc(date.getUTCFullYear(), period === "YEAR" ? 0 : date.getUTCMonth(), 1, 0);
}
