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
    says: "each take is counted in its data, except for names that begin with manual; a taker sees the count before its own",
    run: async (stage) => {
      const me = hand(stage);
      const [name, manual] = [stage.name(), `manual${stage.name()}`];
      for (const each of [name, manual]) await me.create({ name: each, retryAfter: "+0 SECONDS" });
      for (const before of [{}, { retryAfterCount: 1 }, { retryAfterCount: 2 }]) {
        expect((await me.get(name))["data"]).toEqual(before);
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
      expect((await me.query(jobID))["data"]).toEqual({});
      expect((await me.get())["data"]).toEqual({});
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
    says: "an end by a holder that surely was overtaken is refused; the present holder's is not, also without a lease",
    run: async (stage) => {
      const [first, second] = [hand(stage, stage.another()), hand(stage, stage.another())];
      const jobID = await first.create({ retryAfter: "+0 SECONDS" });
      const old = await first.taken(stage.name(), { worker: "w1" });
      const present = await second.taken(stage.name(), { worker: "w2" });
      expect([old.job.jobID, present.job.jobID]).toEqual([jobID, jobID]);
      for (const overtaken of [{ lease: old.lease }, { lease: "", worker: "w1" }])
        expect(await first.status("FinishJob", { jobID, ...overtaken })).toBe(
          "405 This job was given to another worker",
        );
      expect(await hand(stage, stage.another()).status("FinishJob", { jobID })).toBe(OK);
    },
  },
};
