/** The job queue in words. Pure. */
import type { QueuedJobDetail } from "@sluice/wire";
import type { Tone } from "../ui/tones.ts";

const EVENT_WORDS: Readonly<Record<string, string>> = {
  create: "created",
  take: "taken",
  finish: "finished",
  repeat: "finished; will run again",
  pause: "waits for its children",
  wake: "goes on: its children have ended",
  retry: "will be tried again",
  fail: "failed",
  cancel: "cancelled",
  requeue: "put back into the queue",
  lapse: "lost by its worker, and offered again",
  release: "taken back from its worker",
  poison: "given up: taken too often without an end",
  update: "changed",
};
const EVENT_TONES: Readonly<Record<string, Tone>> = {
  create: "idle",
  finish: "good",
  repeat: "good",
  fail: "bad",
  poison: "bad",
  lapse: "warn",
  release: "warn",
  retry: "warn",
  pause: "warn",
  cancel: "idle",
  update: "idle",
};
export const wordsOfQueueEvent = (what: string): string => EVENT_WORDS[what] ?? what;
export const toneOfQueueEvent = (what: string): Tone => EVENT_TONES[what] ?? "active";

/** 1xx again later, 2xx done, 4xx failed, 5xx an error that may pass. */
export function toneOfExit(exit: number): Tone {
  if (exit >= 200 && exit < 300) return exit === 210 ? "warn" : "good";
  return exit >= 400 && exit < 500 ? "bad" : "warn";
}

export const PRIORITIES = [
  [1000, "high"],
  [500, "normal"],
  [0, "low"],
] as const;

/** RFC 3339 as the queue's commands take it: UTC, to the second. */
export const commandTime = (iso: string): string => new Date(iso).toISOString().slice(0, 19).replace("T", " ");

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const BASES: Readonly<Record<string, string>> = {
  SCHEDULED: "the time it was due",
  STARTED: "its start",
  FINISHED: "its end",
};
const CANNED: Readonly<Record<string, string>> = {
  HOURLY: "FINISHED, +1 HOUR",
  DAILY: "FINISHED, +1 DAY",
  WEEKLY: "FINISHED, +7 DAYS",
};

/** "FINISHED, +1 DAY, START OF DAY, +4 HOURS" → "every day at 04:00 UTC". What it does not understand, it repeats. */
export function repeatInWords(repeat: string): string {
  const text = repeat.trim().toUpperCase();
  const [base = "", ...modifiers] = (CANNED[text] ?? text).split(",").map((part) => part.trim());
  const from = BASES[base];
  if (from === undefined || modifiers.length === 0) return repeat;
  const [first = "", ...rest] = modifiers;
  const every = everyOf(first);
  if (every !== null && rest.length === 0) return `${every}, counted from ${from}`;
  const clock = every !== null && rest[0] === "START OF DAY" ? clockOf(rest.slice(1)) : null;
  if (clock !== null) return `${every} at ${clock} UTC`;
  return `from ${from}: ${modifiers.map(modifierInWords).join(", ")}`;
}

const ADD = /^([+-])(\d+) (SECOND|MINUTE|HOUR|DAY|MONTH|YEAR)S?$/;

function everyOf(modifier: string): string | null {
  const [, sign, n = "", unit = ""] = ADD.exec(modifier) ?? [];
  if (sign !== "+") return null;
  return n === "1" ? `every ${unit.toLowerCase()}` : `every ${n} ${unit.toLowerCase()}s`;
}

/** Hours and minutes after the start of a day. */
function clockOf(modifiers: readonly string[]): string | null {
  let minutes = 0;
  for (const modifier of modifiers) {
    const [, sign, n = "", unit] = ADD.exec(modifier) ?? [];
    if (sign !== "+" || (unit !== "HOUR" && unit !== "MINUTE")) return null;
    minutes += Number(n) * (unit === "HOUR" ? 60 : 1);
  }
  if (minutes >= 24 * 60) return null;
  const two = (value: number): string => String(value).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

function modifierInWords(modifier: string): string {
  const [, sign, n, unit = ""] = ADD.exec(modifier) ?? [];
  if (n !== undefined) return `${n} ${unit.toLowerCase()}${n === "1" ? "" : "s"} ${sign === "+" ? "later" : "earlier"}`;
  const [, period] = /^START OF (\w+)$/.exec(modifier) ?? [];
  if (period !== undefined) return `at the start of that ${period.toLowerCase()}`;
  const [, day] = /^WEEKDAY ([0-6])$/.exec(modifier) ?? [];
  return day === undefined ? modifier.toLowerCase() : `on the next ${DAYS[Number(day)] ?? day}`;
}

/** As it is kept, where a script would round its numbers; else in lines. */
export const dataTextOf = ({ data, data_text: text }: Pick<QueuedJobDetail, "data" | "data_text">): string =>
  text ?? JSON.stringify(data, null, 2);

/** What is typed into a field for data: an object, or why it is none. */
export function parseJobData(text: string): { readonly ok: true } | { readonly ok: false; readonly why: string } {
  if (text.trim() === "") return { ok: true };
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? { ok: true }
      : { ok: false, why: "The data must be a JSON object." };
  } catch (error) {
    return { ok: false, why: `The data are no JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
