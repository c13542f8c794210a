/** B: states, and parents with their children. */
import { expect } from "@jest/globals";
import { type Cases, hand, NO_JOB, OK } from "../case.ts";

export const STATES: Cases = {
  B1: {
    says: "a job without a parent is QUEUED",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.state(await me.create())).toBe("QUEUED");
    },
  },
  B2: {
    says: "a child of a RUNNING or RUNQUEUED parent is PAUSED",
    run: async (stage) => {
      const me = hand(stage);
      for (const more of [{}, { retryAfter: "+1 HOUR" }]) {
        const parent = await me.create({ name: stage.name("parent"), ...more });
        await me.get(stage.name("parent"));
        expect(await me.state(await me.create({ parentJobID: parent }))).toBe("PAUSED");
      }
    },
  },
  B3: {
    says: "a child of a PAUSED parent is QUEUED",
    run: async (stage) => {
      const me = hand(stage);
      const { parent } = await me.family();
      expect(await me.state(await me.create({ parentJobID: parent }))).toBe("QUEUED");
    },
  },
  B4: {
    says: "no other parent can have children",
    run: async (stage) => {
      const me = hand(stage);
      const parentJobID = await me.create();
      expect(await me.status("CreateJob", { name: stage.name(), parentJobID })).toBe(
        "405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED",
      );
    },
  },
  B5: {
    says: "a parent exists",
    run: async (stage) =>
      expect(await hand(stage).status("CreateJob", { name: stage.name(), parentJobID: 999_999_999_999 })).toBe(
        "404 parentJobID does not exist",
      ),
  },
  B6: {
    says: "there are no grandchildren",
    run: async (stage) => {
      const me = hand(stage);
      await me.family();
      const { jobID } = await me.get(stage.name("child"));
      expect(await me.status("CreateJob", { name: stage.name(), parentJobID: jobID })).toBe(
        "405 Cannot create grandchildren",
      );
    },
  },
  B7: {
    says: "a job that is taken is RUNNING with its time unchanged, or RUNQUEUED with retryAfter",
    run: async (stage) => {
      const me = hand(stage);
      const plain = await me.create();
      const { nextRun } = await me.query(plain);
      await me.get();
      const taken = await me.query(plain);
      expect([taken["state"], taken["nextRun"]]).toEqual(["RUNNING", nextRun]);
      expect(taken["lastRun"]).not.toBe("");
      const again = await me.create({ retryAfter: "+1 HOUR" });
      await me.get();
      expect(await me.state(again)).toBe("RUNQUEUED");
    },
  },
  B8: {
    says: "a parent that finishes with pending children waits for them, and they are QUEUED",
    run: async (stage) => {
      const me = hand(stage);
      const { parent, ids } = await me.family(2);
      expect(await me.states([parent, ...ids])).toEqual(["PAUSED", "QUEUED", "QUEUED"]);
      const { nextRun, lastRun } = await me.query(parent);
      expect(nextRun).toBe(lastRun);
    },
  },
  B9: {
    says: "the last child that ends wakes its parent; a FAILED one counts as ended",
    run: async (stage) => {
      const me = hand(stage);
      const { parent, ids } = await me.family(2);
      const child = stage.name("child");
      await me.ok("FailJob", { jobID: (await me.get(child)).jobID });
      expect(await me.state(parent)).toBe("PAUSED");
      await me.ok("FinishJob", { jobID: (await me.get(child)).jobID });
      expect(await me.states([parent, ...ids])).toEqual(["QUEUED", "FAILED", "FINISHED"]);
      expect((await me.get(stage.name("parent"))).jobID).toBe(parent);
    },
  },
  B10: {
    says: "a parent that ends or is retried takes its ended children along",
    run: async (stage) => {
      const me = hand(stage);
      for (const verb of ["FinishJob", "RetryJob"]) {
        const { parent, ids } = await me.family(2);
        await me.ok("FinishJob", { jobID: (await me.get(stage.name("child"))).jobID });
        await me.ok("CancelJob", { jobID: ids[1] });
        await me.get(stage.name("parent"));
        await me.ok(verb, { jobID: parent });
        if (verb === "RetryJob") await me.ok("DeleteJob", { jobID: parent });
        expect(await me.states(ids)).toEqual(["-", "-"]);
      }
    },
  },
  B11: {
    says: "a job without parent and schedule is gone when it finishes; with a FAILED child it stays as FINISHED until that goes",
    run: async (stage) => {
      const me = hand(stage);
      const plain = await me.create();
      await me.get();
      await me.ok("FinishJob", { jobID: plain });
      expect(await me.state(plain)).toBe("-");
      const { parent, ids } = await me.family();
      await me.ok("FailJob", { jobID: (await me.get(stage.name("child"))).jobID });
      await me.get(stage.name("parent"));
      await me.ok("FinishJob", { jobID: parent });
      expect(await me.states([parent, ...ids])).toEqual(["FINISHED", "FAILED"]);
      await me.ok("DeleteJob", { jobID: ids[0] });
      expect(await me.states([parent, ...ids])).toEqual(["-", "-"]);
    },
  },
  B12: {
    says: "what has FAILED is kept",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create();
      await me.get();
      await me.ok("FailJob", { jobID });
      expect([await me.state(jobID), await me.status("GetJob", { name: stage.name() })]).toEqual(["FAILED", NO_JOB]);
    },
  },
  B13: {
    says: "a last child that fails wakes its parent",
    run: async (stage) => {
      const me = hand(stage);
      const { parent } = await me.family();
      await me.ok("FailJob", { jobID: (await me.get(stage.name("child"))).jobID });
      expect(await me.state(parent)).toBe("QUEUED");
    },
  },
  B14: {
    says: "what is PAUSED is given to nobody",
    run: async (stage) => {
      const me = hand(stage);
      await me.family();
      expect(await me.status("GetJob", { name: stage.name("parent") })).toBe(NO_JOB);
    },
  },
  B15: {
    says: "a FAILED job is moved only by RequeueJobs and DeleteJob",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create();
      await me.get();
      await me.ok("FailJob", { jobID });
      const another = hand(stage, stage.another());
      for (const verb of ["FinishJob", "RetryJob", "FailJob", "CancelJob"]) {
        expect(await another.status(verb, { jobID })).not.toBe(OK);
        expect(await me.state(jobID)).toBe("FAILED");
      }
      await me.ok("RequeueJobs", { jobIDs: [jobID] });
      expect(await me.state(jobID)).toBe("QUEUED");
    },
  },
};
