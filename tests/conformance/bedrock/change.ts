/** E: QueryJob and UpdateJob. */
import { expect } from "@jest/globals";
import { type Cases, GONE, hand } from "../case.ts";

const TEN = ["created", "data", "jobID", "lastRun", "name", "nextRun", "priority", "repeat", "retryAfter", "state"];

export const CHANGE: Cases = {
  E1: {
    says: "QueryJob has ten fields",
    run: async (stage) => {
      const me = hand(stage);
      expect(Object.keys(await me.query(await me.create())).sort()).toEqual(TEN);
      expect(await me.status("QueryJob", { jobID: 999_999_999_999 })).toBe(GONE);
    },
  },
  E2: {
    says: "UpdateJob replaces the data, in any state, and takes only JSON objects",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ data: '{"a":1}' });
      expect(await me.status("UpdateJob", { jobID })).toBe("402 Missing data");
      expect(await me.status("UpdateJob", { jobID, data: "[1]" })).toBe("402 Data is not a valid JSON Object");
      await me.ok("UpdateJob", { jobID, data: '{"b":2}' });
      expect((await me.query(jobID))["data"]).toEqual({ b: 2 });
      await me.get();
      await me.ok("UpdateJob", { jobID, data: '{"c":3}' });
      await me.ok("FailJob", { jobID });
      await me.ok("UpdateJob", { jobID, data: '{"d":4}' });
      expect(await me.query(jobID)).toMatchObject({ data: { d: 4 }, state: "FAILED" });
    },
  },
  E3: {
    says: "a mocked job stays one, and a real one real",
    run: async (stage) => {
      const me = hand(stage);
      const mocked = await me.create({ mockRequest: true });
      await me.ok("UpdateJob", { jobID: mocked, data: '{"a":1}' });
      expect((await me.query(mocked))["data"]).toEqual({ mockRequest: true, a: 1 });
      const real = await me.create();
      await me.ok("UpdateJob", { jobID: real, data: '{"mockRequest":true,"a":1}' });
      expect((await me.query(real))["data"]).toEqual({ a: 1 });
    },
  },
  E4: {
    says: "a new schedule is checked; an empty one changes nothing",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ repeat: "DAILY" });
      expect(await me.status("UpdateJob", { jobID, data: "{}", repeat: "often" })).toBe("402 Malformed repeat");
      await me.ok("UpdateJob", { jobID, data: "{}", repeat: "" });
      expect((await me.query(jobID))["repeat"]).toBe("DAILY");
      await me.ok("UpdateJob", { jobID, data: "{}", repeat: "finished, +2 days" });
      expect((await me.query(jobID))["repeat"]).toBe("FINISHED, +2 DAYS");
    },
  },
  E5: {
    says: "a nextRun that is given counts, otherwise a new schedule sets it",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ firstRun: "2100-01-01 00:00:00" });
      await me.ok("UpdateJob", { jobID, data: "{}", repeat: "SCHEDULED, +1 DAY", nextRun: "2101-05-05 05:05:05" });
      expect((await me.query(jobID))["nextRun"]).toBe("2101-05-05 05:05:05");
      await me.ok("UpdateJob", { jobID, data: "{}", repeat: "SCHEDULED, +1 DAY" });
      expect((await me.query(jobID))["nextRun"]).toBe("2101-05-06 05:05:05");
    },
  },
  E6: {
    says: "a new priority is checked, and counts at once",
    run: async (stage) => {
      const me = hand(stage);
      await me.create();
      const jobID = await me.create();
      expect(await me.status("UpdateJob", { jobID, data: "{}", jobPriority: 3 })).toBe("402 Invalid priority value");
      await me.ok("UpdateJob", { jobID, data: "{}", jobPriority: 1000 });
      expect((await me.get()).jobID).toBe(jobID);
    },
  },
  E7: {
    says: "shouldClearRepeat takes the schedule away, whatever else is said",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ repeat: "DAILY" });
      await me.ok("UpdateJob", { jobID, data: "{}", repeat: "WEEKLY", shouldClearRepeat: true });
      expect((await me.query(jobID))["repeat"]).toBe("");
    },
  },
  E8: {
    says: "there is nothing to change about an unknown job",
    run: async (stage) =>
      expect(await hand(stage).status("UpdateJob", { jobID: 999_999_999_999, data: "{}" })).toBe(GONE),
  },
};
