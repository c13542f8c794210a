/** H: schedules. Bases that lie in the past make the clock unnecessary: what is computed from them is the same every day. */
import { expect } from "@jest/globals";
import { type Cases, type Hand, hand, msOf, OK, type Stage } from "../case.ts";

const MALFORMED = "402 Malformed repeat";

/** When a job that was due then runs next. */
async function nextAfter(me: Hand, stage: Stage, firstRun: string, repeat: string): Promise<unknown> {
  const jobID = await me.create({ firstRun, repeat });
  await me.get();
  await me.ok("FinishJob", { jobID });
  const { nextRun } = await me.query(jobID);
  await me.ok("DeleteJob", { jobID });
  expect(await me.status("GetJob", { name: stage.name() })).toBe("404 No job found");
  return nextRun;
}

/** Of a job that finishes now. */
async function finished(me: Hand, repeat: string): Promise<{ next: unknown; from: number; to: number }> {
  const jobID = await me.create({ repeat });
  await me.get();
  const from = msOf((await me.query(jobID))["lastRun"]);
  await me.ok("FinishJob", { jobID });
  const { nextRun } = await me.query(jobID);
  // The clock of the queue, as a new job shows it.
  const probe = await me.create({ firstRun: "2100-01-01" });
  const to = msOf((await me.query(probe))["created"]) + 999;
  await me.ok("DeleteJob", { jobID });
  return { next: nextRun, from, to };
}

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const DAY_MS = 86_400_000;

export const REPEAT: Cases = {
  H1: {
    says: "a schedule is a base and one or more modifiers, in any case",
    run: async (stage) => {
      const me = hand(stage);
      const status = (repeat: string): Promise<string> =>
        me.status("CreateJob", { name: stage.name(), firstRun: "2100-01-01", repeat });
      for (const good of ["scheduled, +1 day", "STARTED,+1 HOUR,+5 MINUTES", "Finished, START OF DAY"])
        expect([good, await status(good)]).toEqual([good, OK]);
      for (const bad of ["SCHEDULED", "+1 DAY", "SOMETIMES, +1 DAY", "FINISHED, +1 DAY,", "FINISHED +1 DAY"])
        expect([bad, await status(bad)]).toEqual([bad, MALFORMED]);
    },
  },
  H2: {
    says: "modifiers are SQLite's, applied from left to right, UTC",
    run: async (stage) => {
      const me = hand(stage);
      const next = (repeat: string): Promise<unknown> =>
        nextAfter(me, stage, "2020-02-12 10:20:30", `SCHEDULED, ${repeat}`);
      expect(await next("+90 SECONDS")).toBe("2020-02-12 10:22:00");
      expect(await next("-1 YEAR, +2 MONTHS")).toBe("2019-04-12 10:20:30");
      expect(await next("START OF MONTH, +1 DAY")).toBe("2020-02-02 00:00:00");
      expect(await next("START OF YEAR")).toBe("2020-01-01 00:00:00");
      expect(await next("START OF HOUR, +5 MINUTES")).toBe("2020-02-12 10:05:00");
      expect(await next("WEEKDAY 6")).toBe("2020-02-15 10:20:30");
      for (const bad of ["+1", "1 DAY", "+1000 DAYS", "+123456789 SECONDS", "WEEKDAY 7", "START OF WEEK"])
        expect([bad, await me.status("CreateJob", { name: stage.name(), repeat: `FINISHED, ${bad}` })]).toEqual([
          bad,
          MALFORMED,
        ]);
    },
  },
  H3: {
    says: "SCHEDULED counts from the time that was due, STARTED from the start, FINISHED from the end",
    run: async (stage) => {
      const me = hand(stage);
      expect(await nextAfter(me, stage, "2020-01-01 13:00:00", "SCHEDULED, +1 HOUR")).toBe("2020-01-01 14:00:00");
      const started = await finished(me, "STARTED, +1 HOUR");
      expect(msOf(started.next)).toBe(started.from + 3_600_000);
      const ended = await finished(me, "FINISHED, +1 HOUR");
      expect(msOf(ended.next)).toBeGreaterThanOrEqual(ended.from + 3_600_000);
      expect(msOf(ended.next)).toBeLessThanOrEqual(ended.to + 3_600_000);
    },
  },
  H4: {
    says: "HOURLY, DAILY and WEEKLY count from the finish",
    run: async (stage) => {
      const me = hand(stage);
      for (const [canned, ms] of [
        ["HOURLY", 3_600_000],
        ["DAILY", DAY_MS],
        ["WEEKLY", 7 * DAY_MS],
      ] as const) {
        const { next, from, to } = await finished(me, canned);
        expect(msOf(next)).toBeGreaterThanOrEqual(from + ms);
        expect(msOf(next)).toBeLessThanOrEqual(to + ms);
      }
    },
  },
  H5: {
    says: "SCHEDULED runs what it missed, one after the other",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ firstRun: "2020-01-01 13:00:00", repeat: "SCHEDULED, +1 HOUR" });
      const times: unknown[] = [];
      for (let n = 0; n < 3; n++) {
        await me.get();
        await me.ok("FinishJob", { jobID });
        times.push((await me.query(jobID))["nextRun"]);
      }
      expect(times).toEqual(["14", "15", "16"].map((hour) => `2020-01-01 ${hour}:00:00`));
    },
  },
  H6: {
    says: "months end as SQLite's do, and a weekday that it is stays the same day",
    run: async (stage) => {
      const me = hand(stage);
      const next = (first: string, step: string): Promise<unknown> => nextAfter(me, stage, first, `SCHEDULED, ${step}`);
      expect(await next("2021-01-31 00:00:00", "+1 MONTH")).toBe("2021-03-03 00:00:00");
      expect(await next("2020-01-31 00:00:00", "+1 MONTH")).toBe("2020-03-02 00:00:00");
      expect(await next("2020-02-29 00:00:00", "+1 YEAR")).toBe("2021-03-01 00:00:00");
      expect(await next("2020-02-12 00:00:00", "WEEKDAY 3, +1 HOUR")).toBe("2020-02-12 01:00:00");
    },
  },
  H7: {
    says: "the document's examples: daily at four, and on Mondays at six",
    run: async (stage) => {
      const me = hand(stage);
      const daily = await finished(me, "FINISHED, +1 DAY, START OF DAY, +4 HOURS");
      // Midnight may pass meanwhile.
      const days = [daily.from, daily.to].map((ms) => `${day(ms + DAY_MS)} 04:00:00`);
      expect(days).toContain(daily.next);
      const weekly = await finished(me, "FINISHED, +1 DAY, WEEKDAY 1, START OF DAY, +6 HOURS");
      const monday = new Date(msOf(weekly.next));
      expect([monday.getUTCDay(), String(weekly.next).slice(11)]).toEqual([1, "06:00:00"]);
      expect(monday.getTime() - weekly.from).toBeGreaterThan(0);
      expect(monday.getTime() - weekly.to).toBeLessThanOrEqual(7 * DAY_MS + DAY_MS);
    },
  },
};
