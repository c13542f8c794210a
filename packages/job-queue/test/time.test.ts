import { afterAll, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import Database from "libsql";
import { applyModifiers, parseModifier, parseModifiers } from "../src/time/modifiers.ts";
import { nextRunOf, parseRepeat } from "../src/time/repeat.ts";
import { parseTime, showSeconds, showTime, utc } from "../src/time/timestamp.ts";

const at = (text: string): number => parseTime(text)!;
const sqlite = new Database(":memory:");
afterAll(() => void sqlite.close());

function inSqlite(time: string, modifiers: readonly string[]): string | null {
  const row = statement(modifiers.length).get([time, ...modifiers]);
  return (row as { readonly answer: string | null }).answer;
}
const statements = new Map<number, ReturnType<typeof sqlite.prepare>>();
function statement(modifiers: number): ReturnType<typeof sqlite.prepare> {
  const known =
    statements.get(modifiers) ??
    sqlite.prepare(`SELECT strftime('%Y-%m-%d %H:%M:%f', ?${", ?".repeat(modifiers)}) AS answer`);
  statements.set(modifiers, known);
  return known;
}

function ours(time: string, modifiers: readonly string[]): string | null {
  const ms = applyModifiers(at(time), parseModifiers(modifiers.join(","))!);
  return ms === null ? null : withFraction(showTime(ms));
}
const withFraction = (text: string): string => (text.includes(".") ? text : `${text}.000`);

const sign = fc.constantFrom("+", "-");
const plural = fc.constantFrom("", "s");
const modifier = fc.oneof(
  fc.tuple(sign, fc.nat(99_999_999), plural).map(([s, n, p]) => `${s}${n} second${p}`),
  fc
    .tuple(sign, fc.nat(999), fc.constantFrom("minute", "hour", "day", "month"), plural)
    .map(([s, n, unit, p]) => `${s}${n} ${unit}${p}`),
  fc.tuple(sign, fc.nat(30), plural).map(([s, n, p]) => `${s}${n} year${p}`),
  fc.tuple(sign, fc.nat(14), plural).map(([s, n, p]) => `${s}${n} month${p}`),
  fc.constantFrom("start of day", "start of month", "start of year"),
  fc.nat(6).map((day) => `weekday ${day}`),
);
/** With many month ends and leap days among them. */
const time = fc
  .tuple(
    fc.integer({ min: 1600, max: 2400 }),
    fc.integer({ min: 1, max: 12 }),
    fc.constantFrom(1, 15, 28, 29, 30, 31),
    fc.nat(86_399_999),
  )
  .map(([year, month, day, ms]) => withFraction(showTime(utc(year, month - 1, day, ms))));

describe("modifiers", () => {
  test("do what SQLite does, in any order and number", () => {
    fc.assert(
      fc.property(time, fc.array(modifier, { minLength: 1, maxLength: 5 }), (from, modifiers) => {
        return ours(from, modifiers) === inSqlite(from, modifiers);
      }),
      { numRuns: 3000 },
    );
  });

  test("do what SQLite does on every day of four years, for a month, a year and every weekday", () => {
    const modifiers = ["+1 month", "-1 month", "+1 year", ...Array.from({ length: 7 }, (_, day) => `weekday ${day}`)];
    const days = Array.from({ length: 1461 }, (_, day) =>
      withFraction(showTime(Date.UTC(2023, 0, 1 + day, 13, 14, 15))),
    );
    const differ = modifiers.flatMap((each) => days.filter((from) => ours(from, [each]) !== inSqlite(from, [each])));
    expect(differ).toEqual([]);
  });

  test("leave the calendar where SQLite does", () => {
    expect([ours("9999-12-31 00:00:00", ["+1 day"]), inSqlite("9999-12-31 00:00:00", ["+1 day"])]).toEqual([
      null,
      null,
    ]);
  });

  test.each([
    ["2026-01-31 10:00:00", "+1 MONTH", "2026-03-03 10:00:00"],
    ["2024-01-31 10:00:00", "+1 MONTH", "2024-03-02 10:00:00"],
    ["2024-02-29 10:00:00", "+1 YEAR", "2025-03-01 10:00:00"],
    ["2026-11-16 10:00:00", "WEEKDAY 1", "2026-11-16 10:00:00"],
    ["2026-11-16 10:00:00", "WEEKDAY 0", "2026-11-22 10:00:00"],
    ["2026-11-16 10:59:59.9", "START OF HOUR", "2026-11-16 10:00:00"],
  ])("H6: %s %s is %s", (from, text, to) => {
    expect(showTime(applyModifiers(at(from), parseModifiers(text)!)!)).toBe(to);
  });

  test.each([
    "+1 MINUTE",
    "-10 minutes",
    "+99999999 SECONDS",
    "+999 DAYS",
    "start of hour",
    "Weekday 6",
    " +1 DAY ",
    "+ 1 HOUR",
  ])("H2: %j is one", (text) => {
    expect(parseModifier(text)).not.toBeNull();
  });

  test.each([
    "10",
    "",
    "1 HOUR",
    "+1HOUR",
    "+  1 HOUR",
    "+1000 DAYS",
    "+123456789 SECONDS",
    "+1 WEEK",
    "+1.5 HOURS",
    "START OF WEEK",
    "WEEKDAY 7",
    "utc",
    "+1 HOUR +1 DAY",
  ])("H2: %j is none", (text) => {
    expect(parseModifier(text)).toBeNull();
  });
});

describe("a repeat", () => {
  const day = "2026-11-16";
  const moments = { scheduled: at(`${day} 13:00:00`), started: at(`${day} 13:15:00`), finished: at(`${day} 13:45:00`) };
  const next = (text: string, of = moments): string => showTime(nextRunOf(parseRepeat(text)!, of)!);

  test("H1: is a base and at least one modifier, in any case", () => {
    expect(parseRepeat("finished, +1 minute")).toEqual(parseRepeat("FINISHED,+1 MINUTE"));
    for (const bad of [
      "",
      "FINISHED",
      "FINISHED,",
      "+1 HOUR",
      "ENDED, +1 HOUR",
      "FINISHED, +1 HOUR,",
      "FINISHED +1 HOUR",
      "constructor",
    ])
      expect([bad, parseRepeat(bad)]).toEqual([bad, null]);
  });

  test("H3: counts from when it was scheduled, started or finished", () => {
    expect(next("SCHEDULED, +1 HOUR")).toBe(`${day} 14:00:00`);
    expect(next("STARTED, +1 HOUR")).toBe(`${day} 14:15:00`);
    expect(next("FINISHED, +1 HOUR")).toBe(`${day} 14:45:00`);
  });

  test("H4: canned ones count from the finish", () => {
    // As the document writes them out.
    for (const [canned, written] of [
      ["HOURLY", "FINISHED, + 1 HOUR"],
      ["DAILY", "FINISHED, + 1 DAY"],
      ["WEEKLY", "FINISHED, + 7 DAYS"],
    ] as const)
      expect(next(canned)).toBe(next(written));
    expect([next("HOURLY"), next("daily"), next("Weekly")]).toEqual([
      `${day} 14:45:00`,
      "2026-11-17 13:45:00",
      "2026-11-23 13:45:00",
    ]);
  });

  test("H5: SCHEDULED catches up what was missed, one run after the other", () => {
    const late = { ...moments, started: at("2026-11-16 17:30:00"), finished: at("2026-11-16 17:31:00") };
    expect(next("SCHEDULED, +1 HOUR", late)).toBe(`${day} 14:00:00`);
  });

  test("H7: daily at four, Mondays at six", () => {
    expect(next("FINISHED, +1 DAY, START OF DAY, +4 HOURS")).toBe("2026-11-17 04:00:00");
    expect(next("FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS")).toBe("2026-11-23 06:00:00");
  });
});

describe("a time", () => {
  test("is read with or without its hour, and shown with the fraction that it has", () => {
    expect(showTime(at("2026-11-16"))).toBe("2026-11-16 00:00:00");
    expect(showTime(at("2026-11-16 01:02:03.5"))).toBe("2026-11-16 01:02:03.500");
    expect(showSeconds(at("1969-12-31 23:59:59.5"))).toBe("1969-12-31 23:59:59");
    expect(showTime(at("0001-01-01"))).toBe("0001-01-01 00:00:00");
  });

  test.each([
    "",
    "now",
    "2026-02-30",
    "2026-13-01",
    "2026-11-16 24:00:00",
    "2026-11-16 1:2:3",
    "16.11.2026",
    "2026-11-16 10:60",
  ])("is not %j", (raw) => {
    expect(parseTime(raw)).toBeNull();
  });

  test("comes back as it was shown", () => {
    fc.assert(fc.property(time, (text) => expect(withFraction(showTime(at(text)))).toBe(text)));
  });
});
