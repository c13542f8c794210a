/** F: how runs end, and what is done to jobs. */
import { expect } from "@jest/globals";
import { type Cases, GONE, hand, msOf, NO_JOB, OK } from "../case.ts";

const NOT_RUNNING = "405 Can only retry/finish RUNNING and RUNQUEUED jobs";
const STARTED = "405 Can only cancel jobs that have not yet changed to RUNNING";
const NOBODY = 999_999_999_999;

export const END: Cases = {
  F1: {
    says: "FinishJob and RetryJob are for jobs that run; mocked ones may be in any state",
    run: async (stage) => {
      const me = hand(stage);
      for (const verb of ["FinishJob", "RetryJob"]) {
        expect(await me.status(verb, { jobID: NOBODY })).toBe(GONE);
        expect(await me.status(verb, { jobID: await me.create() })).toBe(NOT_RUNNING);
        expect(await me.status(verb, { jobID: await me.create({ mockRequest: true }) })).toBe(OK);
      }
    },
  },
  F2: {
    says: "a child ends only while its parent waits",
    run: async (stage) => {
      const me = hand(stage);
      const { parent, ids } = await me.family();
      await me.get(stage.name("child"));
      // The only way to it: the parent is taken out of its wait by hand.
      await me.ok("RequeueJobs", { jobIDs: [parent] });
      for (const verb of ["FinishJob", "RetryJob"])
        expect(await me.status(verb, { jobID: ids[0] })).toBe(
          "405 Can only retry/finish child job when parent is PAUSED",
        );
    },
  },
  F3: {
    says: "data replaces, must be of the same world, and loses its counter",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ repeat: "DAILY", data: '{"old":1}' });
      await me.get();
      expect(await me.status("FinishJob", { jobID, data: '{"mockRequest":true}' })).toBe("500 Mock Mismatch");
      await me.ok("FinishJob", { jobID, data: '{"a":1,"retryAfterCount":4}' });
      expect((await me.query(jobID))["data"]).toEqual({ a: 1 });
    },
  },
  F4: {
    says: "data that says delete ends a repeating job",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ repeat: "DAILY" });
      await me.get();
      await me.ok("FinishJob", { jobID, data: '{"delete":true}' });
      expect(await me.state(jobID)).toBe("-");
    },
  },
  F5: {
    says: "a schedule comes before nextRun, that before delay; FinishJob heeds neither of the two",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ repeat: "SCHEDULED, +1 DAY", firstRun: "2020-01-01 00:00:00" });
      const retried = async (more: object): Promise<unknown> => {
        await me.get();
        await me.ok("RetryJob", { jobID, ...more });
        const { nextRun } = await me.query(jobID);
        await me.ok("RequeueJobs", { jobIDs: [jobID] });
        return nextRun;
      };
      await me.get();
      await me.ok("RetryJob", { jobID, nextRun: "2100-01-01 00:00:00", delay: 5 });
      expect((await me.query(jobID))["nextRun"]).toBe("2020-01-02 00:00:00");
      const given = { nextRun: "2100-01-01 00:00:00", delay: 5, ignoreRepeat: true };
      expect(await retried(given)).toBe("2100-01-01 00:00:00");
      const before = msOf((await me.query(jobID))["created"]);
      expect(msOf(await retried({ delay: 3_600, ignoreRepeat: true }))).toBeGreaterThanOrEqual(before + 3_600_000);
      const once = await me.create({ name: stage.name("once") });
      await me.get(stage.name("once"));
      // HTTP's FinishJob has no such fields.
      await me.ok("FinishJob", { jobID: once, ...(stage.door === "TCP" ? { nextRun: "2100-01-01", delay: 5 } : {}) });
      expect(await me.state(once)).toBe("-");
      const plain = await me.create({ name: stage.name("plain") });
      await me.get(stage.name("plain"));
      await me.ok("RetryJob", { jobID: plain });
      expect((await me.get(stage.name("plain"))).jobID).toBe(plain);
    },
  },
  F6: {
    says: "a delay is not negative, and has at most eight digits",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create();
      await me.get();
      const refused = "402 Must specify a non-negative delay when retrying";
      expect(await me.status("RetryJob", { jobID, delay: -1 })).toBe(refused);
      for (const delay of ["100000000", "soon"])
        expect(await me.status("RetryJob", { jobID, delay })).toBe("402 Malformed delay");
      expect(await me.status("RetryJob", { jobID, delay: 99_999_999 })).toBe(OK);
    },
  },
  F7: {
    says: "RetryJob may give another name and priority, also to a job that repeats",
    run: async (stage) => {
      const me = hand(stage);
      const jobID = await me.create({ repeat: "DAILY" });
      await me.get();
      expect(await me.status("RetryJob", { jobID, jobPriority: 3 })).toBe("402 Invalid priority value");
      await me.ok("RetryJob", { jobID, name: stage.name("other"), jobPriority: 1000 });
      expect(await me.query(jobID)).toMatchObject({ name: stage.name("other"), priority: 1000, repeat: "DAILY" });
    },
  },
  F8: {
    says: "what is retried or repeats is QUEUED",
    run: async (stage) => {
      const me = hand(stage);
      for (const [verb, repeat] of [
        ["RetryJob", ""],
        ["FinishJob", "DAILY"],
      ] as const) {
        const jobID = await me.create({ name: stage.name(verb), repeat });
        await me.get(stage.name(verb));
        await me.ok(verb, { jobID });
        expect(await me.state(jobID)).toBe("QUEUED");
      }
    },
  },
  F9: {
    says: "its base, a schedule with retryAfter, is not allowed: the time that was due is never lost to a check",
    run: async (stage) => {
      const me = hand(stage);
      const job = { name: stage.name(), repeat: "SCHEDULED, +1 DAY", firstRun: "2020-01-01 00:00:00" };
      expect(await me.status("CreateJob", { ...job, retryAfter: "+1 HOUR" })).toBe(
        "402 retryAfter cannot be combined with repeat",
      );
      const jobID = await me.create(job);
      await me.get();
      await me.ok("FinishJob", { jobID });
      expect((await me.query(jobID))["nextRun"]).toBe("2020-01-02 00:00:00");
    },
  },
  F10: {
    says: "a repeating parent with pending children waits for them first",
    run: async (stage) => {
      const me = hand(stage);
      const parent = await me.create({ repeat: "DAILY" });
      await me.get();
      await me.create({ name: stage.name("child"), parentJobID: parent });
      await me.ok("FinishJob", { jobID: parent });
      const { state, nextRun, lastRun } = await me.query(parent);
      expect([state, nextRun]).toEqual(["PAUSED", lastRun]);
    },
  },
  F11: {
    says: "FailJob is for jobs that run; its data replaces; a schedule is not followed",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("FailJob", { jobID: NOBODY })).toBe(GONE);
      const jobID = await me.create({ repeat: "DAILY" });
      const { nextRun } = await me.query(jobID);
      expect(await me.status("FailJob", { jobID })).toBe("405 Can only fail RUNNING or RUNQUEUED jobs");
      await me.get();
      await me.ok("FailJob", { jobID, data: '{"why":"x"}' });
      expect(await me.query(jobID)).toMatchObject({ state: "FAILED", data: { why: "x" }, nextRun });
    },
  },
  F12: {
    says: "CancelJob is for jobs that do not run yet, alone or child; the last child wakes its parent",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("CancelJob", { jobID: NOBODY })).toBe(GONE);
      const alone = await me.create();
      expect([await me.status("CancelJob", { jobID: alone }), await me.state(alone)]).toEqual([OK, "CANCELLED"]);
      expect(await me.status("GetJob", { name: stage.name() })).toBe(NO_JOB);
      const { parent, ids } = await me.family(2);
      expect(await me.status("CancelJob", { jobID: parent })).toBe(
        "404 Invalid jobID - Cannot cancel a job with children",
      );
      const running = (await me.get(stage.name("child"))).jobID;
      expect([await me.status("CancelJob", { jobID: running }), await me.state(running)]).toEqual([STARTED, "RUNNING"]);
      await me.ok("CancelJob", { jobID: ids[1] });
      expect(await me.states([parent, ...ids])).toEqual(["PAUSED", "RUNNING", "CANCELLED"]);
      await me.ok("FinishJob", { jobID: running });
      expect(await me.status("CancelJob", { jobID: running })).toBe(STARTED);
      expect(await me.states([parent, running])).toEqual(["QUEUED", "FINISHED"]);
    },
  },
  F13: {
    says: "DeleteJob is not for what runs or waits for children; children go with their parent",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("DeleteJob", { jobID: NOBODY })).toBe(GONE);
      const { parent, ids } = await me.family(2);
      expect(await me.status("DeleteJob", { jobID: parent })).toBe(
        "405 Can't delete a parent jobs with children running",
      );
      await me.get(stage.name("child"));
      expect(await me.status("DeleteJob", { jobID: ids[0] })).toBe("405 Can't delete a RUNNING job");
      const again = await me.create({ retryAfter: "+1 HOUR" });
      await me.get();
      expect(await me.status("DeleteJob", { jobID: again })).toBe("405 Can't delete a RUNNING job");
      await me.ok("FailJob", { jobID: ids[0] });
      await me.ok("DeleteJob", { jobID: ids[1] });
      expect(await me.state(parent)).toBe("QUEUED");
      await me.ok("DeleteJob", { jobID: parent });
      expect(await me.states([parent, ...ids])).toEqual(["-", "-", "-"]);
    },
  },
  F14: {
    says: "RequeueJobs takes any job in any state, with a new name if it likes, and knows no unknown ids",
    run: async (stage) => {
      const me = hand(stage);
      const ids = [await me.create(), await me.create({ firstRun: "2100-01-01" })];
      await me.get();
      await me.ok("RequeueJobs", { jobIDs: [...ids, NOBODY], name: stage.name("other") });
      for (const id of ids) {
        const { state, name, nextRun, created } = await me.query(id);
        expect([state, name, String(nextRun).slice(0, 19)]).toEqual(["QUEUED", stage.name("other"), created]);
      }
      await me.ok("RequeueJobs", { jobIDs: [] });
      const counted = await me.create({ name: stage.name("counted"), retryAfter: "+1 HOUR" });
      await me.get(stage.name("counted"));
      await me.ok("RequeueJobs", { jobIDs: [counted], decrementFailures: true });
      expect((await me.query(counted))["data"]).toEqual({});
    },
  },
  F15: {
    says: "jobs of a crashing type are FAILED instead of given, until that is cleared; Status shows which",
    run: async (stage) => {
      const me = hand(stage);
      const [bad, good] = [stage.name("bad"), stage.name("good")];
      const listed = async (): Promise<unknown> => (await me.ok("Status")).content;
      await me.ok("CrashBedrockJob", { name: `${bad}*` });
      expect(await listed()).toEqual({ crashedBedrockJobs: 1, crashedBedrockJobsList: [`${bad}*`] });
      const ids = [await me.create({ name: bad }), await me.create({ name: good })];
      expect([await me.status("GetJob", { name: bad }), await me.status("GetJob", { name: good })]).toEqual([OK, OK]);
      expect(await me.states(ids)).toEqual(["FAILED", "RUNNING"]);
      await me.ok("ClearCrashedBedrockJobs");
      expect(await listed()).toEqual({ crashedBedrockJobs: 0, crashedBedrockJobsList: [] });
      await me.create({ name: bad });
      expect((await me.get(bad))["name"]).toBe(bad);
      expect(await me.status("GetJob", { name: bad })).toBe(NO_JOB);
    },
  },
};
