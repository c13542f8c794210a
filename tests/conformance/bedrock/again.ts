/** G: retryAfter. */
import { expect } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { type Cases, hand, msOf, NO_JOB, OK } from "../case.ts";

export const AGAIN: Cases = {
  G1: {
    says: "a job with retryAfter is RUNQUEUED, to be offered again that long after it was taken",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ retryAfter: "+5 SECONDS" });
      await me.get();
      const { state, nextRun, lastRun } = await me.query(jobID);
      expect([state, msOf(nextRun) - msOf(lastRun)]).toEqual(["RUNQUEUED", 5_000]);
    },
  },
  G2: {
    says: "it is offered again then, and not before",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ retryAfter: "+1 SECOND" });
      await me.get();
      expect(await me.status("GetJob", { name: stage.name() })).toBe(NO_JOB);
      const { nextRun, lastRun } = await me.query(jobID);
      await waitFor(async () => (await me.status("GetJob", { name: stage.name() })) === OK);
      const again = await me.query(jobID);
      expect(msOf(again["lastRun"])).toBeGreaterThanOrEqual(msOf(nextRun));
      expect(msOf(again["lastRun"])).toBeGreaterThan(msOf(lastRun));
    },
  },
  G3: {
    says: "each taking is counted in its data, except for names that begin with manual",
    run: async (stage) => {
      const me = hand(stage);
      const [name, manual] = [stage.name(), `manual${stage.name()}`];
      for (const each of [name, manual]) await me.create({ name: each, retryAfter: "+0 SECONDS" });
      for (const count of [1, 2, 3]) {
        expect((await me.get(name))["data"]).toEqual({ retryAfterCount: count });
        expect((await me.get(manual))["data"]).toEqual({});
      }
    },
  },
  G4: {
    says: "after ten takings without an end it is FAILED",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ retryAfter: "+0 SECONDS" });
      for (let n = 1; n <= 10; n++) expect((await me.get()).jobID).toBe(jobID);
      expect((await me.ok("GetJob", { name: stage.name() })).content).toEqual({});
      expect(await me.state(jobID)).toBe("FAILED");
    },
  },
  G5: {
    says: "an end forgets the count",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ retryAfter: "+0 SECONDS" });
      await me.get();
      const { lease } = await me.taken();
      await me.ok("RetryJob", { jobID, lease });
      expect((await me.get())["data"]).toEqual({ retryAfterCount: 1 });
    },
  },
  G6: {
    says: "no schedule can lose its time to retryAfter: the two do not go together, at UpdateJob neither",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ retryAfter: "+1 HOUR" });
      expect(await me.status("UpdateJob", { jobID, data: "{}", repeat: "SCHEDULED, +1 DAY" })).toBe(
        "402 retryAfter cannot be combined with repeat",
      );
    },
  },
  G7: {
    says: "a late finish of a job that was given to another is refused; its new holder's is not",
    run: async (stage) => {
      const [first, second] = [hand(stage, stage.another()), hand(stage, stage.another())];
      const jobID = await first.create({ retryAfter: "+0 SECONDS" });
      const old = await first.taken();
      const present = await second.taken();
      expect([old.job.jobID, present.job.jobID]).toEqual([jobID, jobID]);
      for (const lease of [old.lease, ""])
        expect(await first.status("FinishJob", { jobID, lease })).toBe("405 This job was given to another worker");
      expect(await second.status("FinishJob", { jobID, lease: present.lease })).toBe(OK);
    },
  },
};
