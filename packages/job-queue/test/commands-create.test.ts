/** Lines A to C of the checklist of Bedrock's commands, as far as they are not about the wire. */
import { describe, expect, test } from "@jest/globals";
import { Bench, START } from "./support/bench.ts";

const list = (jobs: unknown): Record<string, string> => ({ jobs: JSON.stringify(jobs) });

describe("A: requests", () => {
  test("A1, A3: the verb is what stands before the first space, in any case; others are refused", () => {
    const bench = new Bench();
    expect(bench.ask("CreateJob / HTTP/1.1", { name: "a" })).toBe("200 OK");
    expect(bench.ask("createjob", { NAME: "a" })).toBe("200 OK");
    expect(bench.ask("MakeJob")).toMatch(/^430 /);
    expect([bench.ask("CancelJob / HTTP/1.1", { jobID: 1 }), bench.state(1)]).toEqual(["200 OK", "CANCELLED"]); // A2
  });

  test.each([
    ["", "402 Missing jobID"],
    ["1x", "402 Malformed jobID"],
    ["01", "402 Malformed jobID"],
    ["+1", "402 Malformed jobID"],
    ["99", "404 No job with this jobID"],
    ["12345678901234567890", "404 No job with this jobID"],
  ])("A4: a jobID %j is answered %j", (jobID, answer) => {
    for (const verb of ["QueryJob", "FinishJob", "RetryJob", "FailJob", "CancelJob", "DeleteJob"])
      expect(new Bench().ask(verb, { jobID })).toBe(answer);
  });

  test("A5: names and data are bounded", () => {
    const bench = new Bench();
    expect(bench.ask("CreateJob", { name: "x".repeat(255) })).toBe("200 OK");
    expect(bench.ask("CreateJob", { name: "x".repeat(256) })).toBe("402 Malformed name");
    expect(bench.ask("GetJob", { name: "x".repeat(12_751) })).toBe("402 Malformed name");
    expect(bench.ask("UpdateJob", { jobID: 1, data: "" })).toBe("402 Missing data");
    expect(bench.ask("UpdateJob", { jobID: 1, data: `{"a":"${"x".repeat(70_000)}"}` })).toBe("402 Malformed data");
  });

  test("A8: ids are small integers, increasing in the order of submission", () => {
    const bench = new Bench();
    expect([bench.create(), bench.create(), bench.create()]).toEqual([1, 2, 3]);
  });
});

describe("B: states", () => {
  test("B1: a job without a parent is QUEUED", () => {
    const bench = new Bench();
    expect(bench.state(bench.create())).toBe("QUEUED");
  });

  test("B2, B3: a child is PAUSED while its parent runs, and QUEUED when it waits already", () => {
    const bench = new Bench();
    const parent = bench.create();
    bench.get();
    const child = bench.create({ name: "child", parentJobID: parent });
    expect(bench.state(child)).toBe("PAUSED");
    expect(bench.ask("FinishJob", { jobID: parent })).toBe("200 OK");
    expect(bench.state(bench.create({ name: "sibling", parentJobID: parent }))).toBe("QUEUED");
  });

  test("B2: a child of a RUNQUEUED parent is PAUSED too", () => {
    const bench = new Bench();
    const parent = bench.create({ retryAfter: "+1 HOUR" });
    bench.get();
    expect(bench.state(bench.create({ name: "child", parentJobID: parent }))).toBe("PAUSED");
  });

  test("B4, B5, B6: a parent must run or wait, exist, and have no parent itself", () => {
    const bench = new Bench();
    const parent = bench.create();
    const child = { name: "child", parentJobID: parent };
    expect(bench.ask("CreateJob", child)).toBe(
      "405 Can only create child job when parent is RUNNING, RUNQUEUED or PAUSED",
    );
    expect(bench.ask("CreateJob", { ...child, parentJobID: 999 })).toBe("404 parentJobID does not exist");
    bench.get();
    const first = bench.create(child);
    bench.ask("FinishJob", { jobID: parent });
    bench.get("child");
    expect(bench.ask("CreateJob", { name: "grandchild", parentJobID: first })).toBe("405 Cannot create grandchildren");
  });

  test("B7: a job that is taken is RUNNING, with its time unchanged, or RUNQUEUED with retryAfter", () => {
    const bench = new Bench();
    const plain = bench.create();
    const again = bench.create({ name: "again", retryAfter: "+5 MINUTES" });
    bench.pass(1000);
    bench.get();
    bench.get("again");
    expect(bench.query(plain)).toMatchObject({
      state: "RUNNING",
      lastRun: "2026-11-16 13:00:01",
      nextRun: "2026-11-16 13:00:00",
    });
    expect(bench.query(again)).toMatchObject({ state: "RUNQUEUED", nextRun: "2026-11-16 13:05:01" });
  });

  function family(bench: Bench, children: number): { readonly parent: number; readonly ids: readonly number[] } {
    const parent = bench.create({ name: "parent" });
    bench.get("parent");
    const ids = Array.from({ length: children }, () => bench.create({ name: "child", parentJobID: parent }));
    bench.ask("FinishJob", { jobID: parent });
    return { parent, ids };
  }

  test("B8: a parent that finishes with pending children is PAUSED, and they are QUEUED, by one write", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench, 3);
    expect([parent, ...ids].map((id) => bench.state(id))).toEqual(["PAUSED", "QUEUED", "QUEUED", "QUEUED"]);
    expect(ids.map((id) => bench.written.get(id)!.state)).toEqual(["PAUSED", "PAUSED", "PAUSED"]);
    bench.takeOver();
    expect(ids.map((id) => bench.state(id))).toEqual(["QUEUED", "QUEUED", "QUEUED"]);
  });

  test("B9: the last child that ends wakes its parent; a FAILED one counts as ended", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench, 2);
    bench.ask("FinishJob", { jobID: bench.get("child").view.jobID });
    expect([bench.state(ids[0]!), bench.state(parent)]).toEqual(["FINISHED", "PAUSED"]);
    bench.ask("FailJob", { jobID: bench.get("child").view.jobID });
    expect([bench.state(ids[1]!), bench.state(parent)]).toEqual(["FAILED", "QUEUED"]); // B13
  });

  test.each([2, 120])("B10: a parent that has seen the end of its %i children takes them along", (count) => {
    const bench = new Bench();
    const { parent } = family(bench, count);
    for (let n = 0; n < count; n++) bench.ask("FinishJob", { jobID: bench.get("child").view.jobID });
    const resumed = bench.get("parent").view;
    expect(resumed.finishedChildJobs).toHaveLength(count);
    expect(bench.ask("RetryJob", { jobID: parent })).toBe("200 OK");
    expect(bench.get("parent").view.finishedChildJobs).toBeUndefined();
    bench.takeOver();
    expect(bench.shard.size).toBe(1);
    for (let n = 0; n < 3; n++) bench.pass(1);
    expect(bench.written.size).toBe(1);
  });

  test.each([2, 120])(
    "B11: a job that finishes goes, with its %i children, and leaves an entry in the archive",
    (count) => {
      const bench = new Bench();
      const { parent } = family(bench, count);
      for (let n = 0; n < count; n++) bench.ask("FinishJob", { jobID: bench.get("child").view.jobID });
      const { token } = bench.get("parent");
      bench.ask("FinishJob", { jobID: parent });
      expect([bench.state(parent), bench.shard.size]).toEqual(["-", 0]);
      expect(bench.done).toContain(`${parent}-${token}`);
      bench.takeOver();
      for (let n = 0; n < 3; n++) bench.pass(1);
      expect(bench.written.size).toBe(0);
    },
  );

  test("B11, B12: a parent with a FAILED child is FINISHED, stays with it, and goes with it", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench, 1);
    bench.ask("FailJob", { jobID: bench.get("child").view.jobID });
    bench.get("parent");
    expect(bench.ask("FinishJob", { jobID: parent })).toBe("200 OK");
    expect([bench.state(parent), bench.state(ids[0]!)]).toEqual(["FINISHED", "FAILED"]);
    bench.takeOver();
    expect(bench.ask("DeleteJob", { jobID: ids[0]! })).toBe("200 OK");
    expect(bench.written.size).toBe(0);
  });

  test("B11: if that child is asked for again, its parent waits for it and runs again", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench, 1);
    bench.ask("FailJob", { jobID: bench.get("child").view.jobID });
    bench.get("parent");
    bench.ask("FinishJob", { jobID: parent });
    bench.ask("RequeueJobs", { jobIDs: ids[0]! });
    expect([bench.state(parent), bench.state(ids[0]!)]).toEqual(["PAUSED", "QUEUED"]);
    bench.ask("FinishJob", { jobID: bench.get("child").view.jobID });
    expect(bench.get("parent").view.finishedChildJobs).toHaveLength(1);
  });

  test("B14: what is PAUSED is not given to anybody", () => {
    const bench = new Bench();
    const { parent } = family(bench, 1);
    expect(bench.ask("GetJob", { name: "parent" })).toBe("404 No job found");
    expect(bench.state(parent)).toBe("PAUSED");
  });

  test("B15: a FAILED job is moved only by requeue and delete", () => {
    const bench = new Bench();
    const id = bench.create();
    bench.get();
    bench.ask("FailJob", { jobID: id });
    for (const verb of ["FinishJob", "RetryJob", "FailJob", "CancelJob"])
      expect(bench.ask(verb, { jobID: id })).toMatch(/^405 /);
    expect(bench.ask("GetJob", { name: "job" })).toBe("404 No job found");
    bench.ask("RequeueJobs", { jobIDs: id });
    expect(bench.state(id)).toBe("QUEUED");
  });
});

describe("C: CreateJob and CreateJobs", () => {
  test("C1: a job has a name", () => {
    const bench = new Bench();
    expect(bench.ask("CreateJob")).toBe("402 Missing name");
    expect(bench.ask("CreateJobs", list([{ data: { name: 1 } }]))).toBe("402 Missing name");
    expect(bench.ask("CreateJobs", list([{ name: "x".repeat(256) }]))).toBe("402 Malformed name");
  });

  test.each(["", "{", "[]", "{}", "[1]", '["a"]', "[[]]"])("C2: jobs %j are no list of jobs", (jobs) => {
    expect(new Bench().ask("CreateJobs", { jobs })).toBe("401 Invalid JSON");
  });

  test("C3: one bad job, and none is made", () => {
    const bench = new Bench();
    expect(bench.ask("CreateJobs", list([{ name: "a" }, { name: "b", repeat: "x" }]))).toBe("402 Malformed repeat");
    expect(bench.ask("CreateJobs", list([{ name: "a" }, { name: "b", parentJobID: 9 }]))).toMatch(/^404 /);
    expect(bench.written.size).toBe(0);
  });

  test("C4: ids come in the order of the jobs, and those of unique ones again", () => {
    const bench = new Bench();
    const jobs = [{ name: "a" }, { name: "u", unique: true }, { name: "u", unique: "true" }, { name: "b" }];
    expect(bench.content("CreateJobs", list(jobs))).toEqual({ kind: "ids", ids: [1, 2, 2, 3], single: false });
    expect(bench.content("CreateJob", { name: "c" })).toEqual({ kind: "ids", ids: [4], single: true });
  });

  test("C4: more than one transaction holds are made in parts that count together, or not at all", () => {
    const bench = new Bench();
    const jobs = Array.from({ length: 1200 }, () => ({ name: "many" }));
    const { content } = bench.reply("CreateJobs", list(jobs));
    expect(content.kind === "ids" && content.ids.length).toBe(1200);
    expect(bench.marks.size).toBe(1);
    bench.takeOver();
    expect(bench.shard.size).toBe(1200);
    // An owner that died before the mark: nobody was told of these jobs, and they are swept.
    bench.marks.clear();
    const empty = new Bench();
    for (const [id, job] of bench.written) empty.written.set(id, job);
    for (const block of bench.blocks) empty.blocks.add(block);
    expect(() => empty.takeOver()).not.toThrow();
    expect(empty.shard.size).toBe(0);
    for (let n = 0; n < 24; n++) empty.pass(1);
    expect([empty.written.size, empty.blocks.size]).toEqual([0, 0]);
  });

  test("C4: the mark goes with the last job that needs it", () => {
    const bench = new Bench();
    bench.ask("CreateJobs", list(Array.from({ length: 501 }, () => ({ name: "many" }))));
    bench.ask("GetJobs", { name: "many", numResults: 500 });
    expect(bench.marks.size).toBe(1);
    bench.ask("GetJobs", { name: "many", numResults: 500 });
    expect(bench.marks.size).toBe(0);
  });

  test.each(["0", "500", "1000"])("C5: priority %s is one", (jobPriority) => {
    const bench = new Bench();
    expect(bench.query(bench.create({ jobPriority }))).toMatchObject({ priority: Number(jobPriority) });
    expect(bench.query(bench.create({ priority: jobPriority }))).toMatchObject({ priority: Number(jobPriority) });
  });

  test.each(["250", "1", "-1", "high", "5e2"])("C5: priority %j is none", (jobPriority) => {
    expect(new Bench().ask("CreateJob", { name: "a", jobPriority })).toBe("402 Invalid priority value");
  });

  test("C6: data is {} or a JSON object, kept as it came", () => {
    const bench = new Bench();
    expect(bench.query(bench.create())).toMatchObject({ data: "{}", priority: 500 });
    const data = '{ "b": 12345678901234567890, "a": "123" }';
    expect(bench.query(bench.create({ data }))).toMatchObject({ data });
    for (const bad of ["[]", "1", "x", "null"])
      expect(bench.ask("CreateJob", { name: "a", data: bad })).toBe("402 Data is not a valid JSON Object");
  });

  test("C7: the first run is now or as said; a time that is none is refused", () => {
    const bench = new Bench();
    bench.now = START + 123;
    expect(bench.query(bench.create())).toMatchObject({
      nextRun: "2026-11-16 13:00:00.123",
      created: "2026-11-16 13:00:00",
    });
    expect(bench.query(bench.create({ firstRun: "2027-01-01" }))).toMatchObject({ nextRun: "2027-01-01 00:00:00" });
    expect(bench.ask("CreateJob", { name: "a", firstRun: "soon" })).toBe("402 Malformed firstRun");
  });

  test("C8: an empty repeat is none, a malformed one is refused, answers show it in upper case", () => {
    const bench = new Bench();
    expect(bench.query(bench.create({ repeat: "" }))).toMatchObject({ repeat: "" });
    expect(bench.query(bench.create({ repeat: "finished, +1 minute" }))).toMatchObject({
      repeat: "FINISHED, +1 MINUTE",
    });
    expect(bench.written.get(2)!.repeat).toBe("finished, +1 minute");
    expect(bench.ask("CreateJob", { name: "a", repeat: "finished" })).toBe("402 Malformed repeat");
  });

  test("C9, C10: retryAfter is modifiers, and stands alone", () => {
    const bench = new Bench();
    expect(bench.ask("CreateJob", { name: "a", retryAfter: "10" })).toBe("402 Malformed retryAfter");
    const retryAfter = "+10 SECONDS";
    expect(bench.ask("CreateJob", { name: "a", retryAfter, repeat: "HOURLY" })).toMatch(/^402 .*repeat/);
    expect(bench.ask("CreateJob", { name: "a", retryAfter, unique: "true" })).toMatch(/^402 .*unique/);
    const id = bench.create({ retryAfter });
    expect(bench.ask("UpdateJob", { jobID: id, data: "{}", repeat: "HOURLY" })).toMatch(/^402 /);
    // A second unique job would give the first one its schedule.
    const second = { name: "job", unique: "true", repeat: "HOURLY" };
    expect(bench.ask("CreateJob", second)).toBe("402 retryAfter cannot be combined with repeat");
    expect(bench.create({ ...second, overwrite: "false" })).toBe(id);
    const both = list([
      { name: "b", retryAfter },
      { ...second, name: "b" },
    ]);
    expect(bench.ask("CreateJobs", both)).toBe("402 retryAfter cannot be combined with repeat");
  });

  describe("C11: unique", () => {
    const first = { name: "u", unique: "true", data: '{"a":{"x":1,"y":2},"l":[1,2]}', repeat: "HOURLY" };

    test("with the same data it takes a new repeat and priority, and keeps what is not said", () => {
      const bench = new Bench();
      const id = bench.create(first);
      const same = { name: "u", unique: "true", data: '{"a": {"x":1,"y":2}, "l":[1,2]}' };
      expect(bench.create({ ...same, jobPriority: 1000 })).toBe(id);
      expect(bench.query(id)).toMatchObject({ priority: 1000, repeat: "HOURLY" });
      expect(bench.create({ ...same, repeat: "DAILY" })).toBe(id);
      expect(bench.query(id)).toMatchObject({ priority: 1000, repeat: "DAILY" });
    });

    test("other data is merged, and takes schedule and priority with it", () => {
      const bench = new Bench();
      const id = bench.create(first);
      const data = '{"a":{"x":null,"z":3},"l":[3]}';
      expect(bench.create({ ...first, data, repeat: "DAILY", jobPriority: 1000 })).toBe(id);
      expect(bench.query(id)).toMatchObject({ priority: 1000, repeat: "DAILY", data: '{"a":{"y":2,"z":3},"l":[3]}' });
      expect(bench.written.size).toBe(1);
    });

    test("overwrite: false changes nothing; in any state it is the same job", () => {
      const bench = new Bench();
      const id = bench.create(first);
      bench.get("u");
      bench.ask("FailJob", { jobID: id });
      expect(bench.create({ ...first, data: "{}", overwrite: "false" })).toBe(id);
      expect(bench.query(id)).toMatchObject({ data: first.data, state: "FAILED" });
    });

    test("is said by any word but no, and is per tenant and world", () => {
      const bench = new Bench();
      const id = bench.create(first);
      for (const unique of ["1", "yes", "TRUE"]) expect(bench.create({ ...first, unique })).toBe(id);
      for (const unique of ["0", "false", ""]) expect(bench.create({ ...first, unique })).not.toBe(id);
      expect(bench.create({ ...first, mockRequest: "true" })).not.toBe(id);
      expect(bench.create(first, "default")).toBe(id);
    });

    test("a child of another parent is refused", () => {
      const bench = new Bench();
      const parents = ["p1", "p2"].map((name) => bench.create({ name }));
      for (const name of ["p1", "p2"]) bench.get(name);
      const child = { name: "u", unique: "true" };
      bench.create({ ...child, parentJobID: parents[0]! });
      expect(bench.ask("CreateJob", { ...child, parentJobID: parents[1]! })).toMatch(/^404 Trying to create a child/);
    });
  });

  test("C12: a mocked job says so in its data, repeats not, and gives this to its children", () => {
    const bench = new Bench();
    const parent = bench.create({ mockRequest: "true", repeat: "HOURLY", data: '{"a":1}' });
    expect(bench.query(parent)).toMatchObject({ data: '{"mockRequest":true,"a":1}', repeat: "" });
    bench.get("job", { mockRequest: "true" });
    expect(bench.query(bench.create({ name: "c", parentJobID: parent }))).toMatchObject({
      data: '{"mockRequest":true}',
    });
    const real = bench.create({ name: "real" });
    bench.get("real");
    expect(bench.query(bench.create({ name: "c", parentJobID: real, mockRequest: "true" }))).toMatchObject({
      data: "{}",
    });
    const both = list([
      { name: "c", parentJobID: parent },
      { name: "c", parentJobID: real },
    ]);
    expect(bench.ask("CreateJobs", both)).toBe("405 Parent and child jobs must have matching mockRequest setting");
    const { content } = bench.reply("CreateJobs", list([{ name: "c", parentJobID: parent }, { name: "free" }]));
    const ids = content.kind === "ids" ? content.ids : [];
    expect(ids.map((id) => bench.query(id)["data"])).toEqual(['{"mockRequest":true}', '{"mockRequest":true}']);
  });

  test("C13: a new job has never run", () => {
    const bench = new Bench();
    expect(bench.query(bench.create())).toMatchObject({ state: "QUEUED", lastRun: "", nextRun: "2026-11-16 13:00:00" });
  });
});
