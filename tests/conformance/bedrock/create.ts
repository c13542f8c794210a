/** C: CreateJob and CreateJobs. */
import { expect } from "@jest/globals";
import { type Cases, hand, msOf, OK } from "../case.ts";

export const CREATE: Cases = {
  C1: {
    says: "every job has a name of 1 to 255 bytes",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("CreateJob", { data: '{"name":"inside"}' })).toBe("402 Missing name");
      expect(await me.status("CreateJob", { name: "é".repeat(128) })).toBe("402 Malformed name");
      expect(await me.status("CreateJobs", { jobs: [{ data: { name: "inside" } }] })).toBe("402 Missing name");
      expect(await me.status("CreateJobs", { jobs: [{ name: "n".repeat(256) }] })).toBe("402 Malformed name");
    },
  },
  C2: {
    says: "jobs is a list of objects, with at least one",
    run: async (stage) => {
      const me = hand(stage);
      expect(await me.status("CreateJobs", { jobs: [] })).toBe("401 Invalid JSON");
      // HTTP checks the types of a body before the queue reads it.
      const refused = stage.door === "TCP" ? "401 Invalid JSON" : "HTTP 400";
      for (const jobs of ["{", {}, [1], ["a"], [[]]])
        expect([jobs, await me.status("CreateJobs", { jobs })]).toEqual([jobs, refused]);
    },
  },
  C3: {
    says: "one bad job, and none is made",
    run: async (stage) => {
      const me = hand(stage);
      const jobs = [{ name: stage.name() }, { name: stage.name(), repeat: "never" }];
      expect(await me.status("CreateJobs", { jobs })).toBe("402 Malformed repeat");
      expect(await me.status("GetJob", { name: stage.name() })).toBe("404 No job found");
    },
  },
  C4: {
    says: "ids come in the order of the jobs, those of unique ones again",
    run: async (stage) => {
      const me = hand(stage);
      const unique = { name: stage.name("unique"), unique: true };
      const first = await me.create(unique);
      const { content } = await me.ok("CreateJobs", { jobs: [{ name: stage.name() }, unique, { name: stage.name() }] });
      const { jobIDs } = content as { readonly jobIDs: readonly number[] };
      expect([jobIDs.length, jobIDs[1]]).toEqual([3, first]);
      expect(jobIDs[2]).toBeGreaterThan(jobIDs[0]!);
    },
  },
  C5: {
    says: "priorities are 0, 500 and 1000, also as `priority`; 500 if none is given",
    run: async (stage) => {
      const me = hand(stage);
      expect((await me.query(await me.create()))["priority"]).toBe(500);
      for (const jobPriority of [0, 500, 1000])
        expect((await me.query(await me.create({ jobPriority })))["priority"]).toBe(jobPriority);
      for (const jobPriority of ["250", "1", "-1", "high"])
        expect(await me.status("CreateJob", { name: stage.name(), jobPriority })).toBe("402 Invalid priority value");
      // A name that is only accepted: HTTP's bodies have the documented one.
      if (stage.door === "TCP") expect((await me.query(await me.create({ priority: 1000 })))["priority"]).toBe(1000);
    },
  },
  C6: {
    says: "data is {} or a JSON object, kept byte for byte",
    run: async (stage) => {
      const me = hand(stage);
      expect((await me.query(await me.create()))["data"]).toEqual({});
      const data = '{"a": "123",  "b":1.0}';
      const { text } = await me.ok("QueryJob", { jobID: await me.create({ data }) });
      expect(text).toContain(`"data":${data}`);
      for (const bad of ["[]", "1", "{", '"text"'])
        expect(await me.status("CreateJob", { name: stage.name(), data: bad })).toBe(
          "402 Data is not a valid JSON Object",
        );
    },
  },
  C7: {
    says: "the first run is now, to the millisecond, or as said; a time that is none is refused",
    run: async (stage) => {
      const me = hand(stage);
      const { created, nextRun } = await me.query(await me.create());
      expect(created).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      expect(String(nextRun).slice(0, 19)).toBe(created);
      expect((await me.query(await me.create({ firstRun: "2100-02-03 04:05:06" })))["nextRun"]).toBe(
        "2100-02-03 04:05:06",
      );
      expect(await me.status("CreateJob", { name: stage.name(), firstRun: "tomorrow" })).toBe("402 Malformed firstRun");
    },
  },
  C8: {
    says: "an empty repeat is none, a malformed one is refused, answers show it in upper case",
    run: async (stage) => {
      const me = hand(stage);
      expect((await me.query(await me.create({ repeat: "" })))["repeat"]).toBe("");
      expect(await me.status("CreateJob", { name: stage.name(), repeat: "SCHEDULED" })).toBe("402 Malformed repeat");
      expect((await me.query(await me.create({ repeat: "finished, +1 day" })))["repeat"]).toBe("FINISHED, +1 DAY");
    },
  },
  C9: {
    says: "retryAfter is one or more modifiers",
    run: async (stage) => {
      const me = hand(stage);
      for (const retryAfter of ["10", "soon", "FINISHED, +1 DAY"])
        expect(await me.status("CreateJob", { name: stage.name(), retryAfter })).toBe("402 Malformed retryAfter");
      for (const retryAfter of ["+10 SECONDS", "+1 DAY, START OF DAY"])
        expect(await me.status("CreateJob", { name: stage.name(), retryAfter })).toBe(OK);
    },
  },
  C10: {
    says: "retryAfter goes with neither repeat nor unique",
    run: async (stage) => {
      const me = hand(stage);
      const job = { name: stage.name(), retryAfter: "+1 HOUR" };
      expect(await me.status("CreateJob", { ...job, repeat: "DAILY" })).toBe(
        "402 retryAfter cannot be combined with repeat",
      );
      expect(await me.status("CreateJob", { ...job, unique: true })).toBe(
        "402 retryAfter cannot be combined with unique",
      );
    },
  },
  C11: {
    says: "of a unique job there is one: its repeat, data and priority are updated, data is merged, overwrite: false leaves it",
    run: async (stage) => {
      const me = hand(stage);
      const unique = { name: stage.name(), unique: true };
      const jobID = await me.create({ ...unique, data: '{"a":1,"b":{"c":2},"l":[1]}' });
      expect(await me.create({ ...unique, data: '{"a":1,"b":{"c":2},"l":[1]}', jobPriority: 0 })).toBe(jobID);
      expect((await me.query(jobID))["priority"]).toBe(0);
      expect(await me.create({ ...unique, data: '{"a":2}', overwrite: false })).toBe(jobID);
      const other = { data: '{"a":null,"b":{"d":3},"l":[2]}', repeat: "DAILY", jobPriority: 1000 };
      expect(await me.create({ ...unique, ...other })).toBe(jobID);
      expect(await me.query(jobID)).toMatchObject({
        data: { b: { c: 2, d: 3 }, l: [2] },
        repeat: "DAILY",
        priority: 1000,
      });
      await me.get();
      await me.ok("FailJob", { jobID });
      expect(await me.create({ ...unique, data: "{}" })).toBe(jobID);
      const { parent } = await me.family();
      const child = { name: stage.name("only-child"), unique: true, parentJobID: parent };
      await me.create(child);
      const elsewhere = (await me.family()).parent;
      expect(await me.status("CreateJob", { ...child, parentJobID: elsewhere })).toBe(
        "404 Trying to create a child that already exists, but it is tied to a different parent",
      );
    },
  },
  C12: {
    says: "a mocked job says so in its data, does not repeat, and its children are mocked",
    run: async (stage) => {
      const me = hand(stage);
      const parent = await me.create({ mockRequest: true, repeat: "DAILY" });
      expect(await me.query(parent)).toMatchObject({ data: { mockRequest: true }, repeat: "" });
      expect((await me.get(stage.name(), { mockRequest: true })).jobID).toBe(parent);
      const child = await me.create({ name: stage.name("child"), parentJobID: parent });
      expect((await me.query(child))["data"]).toEqual({ mockRequest: true });
      const real = await me.create({ name: stage.name("real") });
      await me.get(stage.name("real"));
      // In both directions: a real parent's child is real, whatever was asked for.
      const under = await me.create({ name: stage.name("child"), parentJobID: real, mockRequest: true });
      expect((await me.query(under))["data"]).toEqual({});
      const both = [parent, real].map((parentJobID) => ({ name: stage.name("child"), parentJobID }));
      expect(await me.status("CreateJobs", { jobs: both })).toBe(
        "405 Parent and child jobs must have matching mockRequest setting",
      );
    },
  },
  C13: {
    says: "a new job is QUEUED or PAUSED and has never run",
    run: async (stage) => {
      const me = hand(stage);
      const fresh = await me.query(await me.create());
      expect([fresh["state"], fresh["lastRun"]]).toEqual(["QUEUED", ""]);
      expect(msOf(fresh["nextRun"])).toBeGreaterThanOrEqual(msOf(fresh["created"]));
      expect(await me.get()).not.toHaveProperty("parentJobID");
    },
  },
};
