/** Lines D and E of the checklist of Bedrock's commands. */
import { describe, expect, test } from "@jest/globals";
import { Bench } from "./support/bench.ts";

describe("D: GetJob and GetJobs", () => {
  const names = (content: ReturnType<Bench["content"]>): readonly string[] =>
    content.kind === "taken" ? content.jobs.map(({ view }) => view.name) : [];

  test("D1, D2: what is asked for must be said properly", () => {
    const bench = new Bench();
    expect(bench.ask("GetJob")).toBe("402 Missing name");
    expect(bench.ask("GetJob", { name: "a", numResults: 1 })).toBe(
      "402 Cannot use numResults with GetJob; try GetJobs",
    );
    expect(bench.ask("GetJobs", { name: "a" })).toBe("404 No job found");
    expect(bench.ask("GetJob", { name: "a", jobPriority: 3 })).toBe("402 Invalid priority value"); // D3
    for (let n = 0; n < 2; n++) bench.create({ name: "a" });
    expect(names(bench.content("GetJobs", { name: "a" }))).toEqual(["a"]);
    expect(names(bench.content("GetJobs", { name: "a", numResults: -5 }))).toEqual(["a"]);
  });

  test("D3, D4, D7: by priority, then by time; only what is due; only one priority if said", () => {
    const bench = new Bench();
    for (const [name, jobPriority, firstRun] of [
      ["x-late", 500, "2026-11-16 12:59:59"],
      ["x-early", 500, "2026-11-16 12:00:00"],
      ["x-high", 1000, "2026-11-16 13:00:00"],
      ["x-low", 0, "2026-01-01"],
      ["x-future", 1000, "2026-11-16 13:00:01"],
    ] as const)
      bench.create({ name, jobPriority, firstRun });
    expect(names(bench.content("GetJobs", { name: "x*", numResults: 1, jobPriority: 0 }))).toEqual(["x-low"]);
    expect(names(bench.content("GetJobs", { name: "x*", numResults: 9 }))).toEqual(["x-high", "x-early", "x-late"]);
    expect(bench.ask("GetJobs", { name: "x*", numResults: 9 })).toBe("404 No job found"); // D5
    bench.now += 1000;
    expect(names(bench.content("GetJobs", { name: "x*", numResults: 9 }))).toEqual(["x-future"]);
  });

  test("D6: nine fields, eleven for a child and for a resumed parent", () => {
    const bench = new Bench();
    const parent = bench.create({ name: "parent", data: '{"p":1}' });
    const { view } = bench.get("parent");
    expect(Object.keys(view).sort()).toEqual([
      "created",
      "data",
      "jobID",
      "lastRun",
      "name",
      "nextRun",
      "priority",
      "repeat",
      "retryAfter",
    ]);
    expect(view.lastRun).toBe("");
    const children = ["c1", "c2"].map((name) => bench.create({ name, parentJobID: parent }));
    bench.ask("FinishJob", { jobID: parent });
    const child = bench.get("c1").view;
    expect([Object.keys(child).length, child.parentJobID, child.parentData]).toEqual([11, parent, '{"p":1}']);
    bench.ask("FinishJob", { jobID: children[0]!, data: '{"done":1}' });
    bench.ask("CancelJob", { jobID: children[1]! });
    const resumed = bench.get("parent").view;
    expect(Object.keys(resumed)).toHaveLength(11);
    expect(resumed.finishedChildJobs).toEqual([{ jobID: children[0], data: '{"done":1}' }]);
    expect(resumed.cancelledChildJobs).toEqual([{ jobID: children[1], data: "{}" }]);
  });

  test("D8: mocked jobs are for those who ask for them, with the real ones", () => {
    const bench = new Bench();
    bench.create({ name: "a", mockRequest: "true" });
    expect(bench.ask("GetJob", { name: "a" })).toBe("404 No job found");
    bench.create({ name: "a" });
    expect(names(bench.content("GetJobs", { name: "a", numResults: 5, getMockedJobs: "true" }))).toHaveLength(2);
  });

  test("D9: a job that was taken ten times is FAILED instead of given, with and without retryAfter", () => {
    const bench = new Bench();
    const plain = bench.create({ data: '{"retryAfterCount":10}' });
    expect(bench.reply("GetJob", { name: "job" })).toMatchObject({ status: { code: 200 }, content: { jobs: [] } });
    expect(bench.state(plain)).toBe("FAILED");
  });

  test("D10: a job whose times leave the calendar is FAILED, and the others are given", () => {
    const bench = new Bench();
    bench.at("9999-12-31 12:00:00");
    const broken = bench.create({ name: "x1", retryAfter: "+1 YEAR" });
    bench.create({ name: "x2" });
    expect(names(bench.content("GetJobs", { name: "x*", numResults: 2 }))).toEqual(["x2"]);
    expect(bench.state(broken)).toBe("FAILED");
  });

  test("D11: what was taken and could not be delivered goes back, and does not count", () => {
    const bench = new Bench();
    const id = bench.create({ retryAfter: "+1 HOUR" });
    bench.get();
    bench.ask("RequeueJobs", { jobIDs: id, decrementFailures: "true" });
    expect(bench.query(id)).toMatchObject({ state: "QUEUED", data: "{}" });
    expect(bench.get().view.jobID).toBe(id);
  });

  test("D12: nobody gets what another one has; another tenant sees nothing of it", () => {
    const bench = new Bench();
    const id = bench.create();
    expect(bench.ask("GetJob", { name: "*" }, "other")).toBe("404 No job found");
    expect(bench.ask("QueryJob", { jobID: id }, "other")).toBe("404 No job with this jobID");
    expect(bench.ask("DeleteJob", { jobID: id }, "other")).toBe("404 No job with this jobID");
    bench.get();
    expect(bench.ask("GetJob", { name: "job" })).toBe("404 No job found");
    expect(bench.ask("FinishJob", { jobID: id }, "other")).toBe("404 No job with this jobID");
  });
});

describe("E: QueryJob and UpdateJob", () => {
  test("E1: ten fields, or no such job", () => {
    const bench = new Bench();
    const fields = [
      "created",
      "data",
      "jobID",
      "lastRun",
      "name",
      "nextRun",
      "priority",
      "repeat",
      "retryAfter",
      "state",
    ];
    expect(Object.keys(bench.query(bench.create())).sort()).toEqual(fields);
    expect(bench.ask("QueryJob", { jobID: 77 })).toBe("404 No job with this jobID");
  });

  test("E2, E3: data is replaced, not merged, in any state; what is no JSON object is refused; a mocked job stays one", () => {
    const bench = new Bench();
    const id = bench.create({ data: '{"a":1}', mockRequest: "true" });
    expect(bench.ask("UpdateJob", { jobID: id, data: '{"b":2}' })).toBe("200 OK");
    expect(bench.query(id)["data"]).toBe('{"mockRequest":true,"b":2}');
    expect(bench.ask("UpdateJob", { jobID: id, data: "[1]" })).toBe("402 Data is not a valid JSON Object");
    expect(bench.ask("UpdateJob", { jobID: id })).toBe("402 Missing data");
    // What changes something else leaves the data alone.
    expect(bench.ask("UpdateJob", { jobID: id, data: '{"by":"a worker"}' })).toBe("200 OK");
    expect(bench.ask("UpdateJob", { jobID: id, jobPriority: 1000 })).toBe("200 OK");
    expect(bench.query(id)).toMatchObject({ data: '{"mockRequest":true,"by":"a worker"}', priority: 1000 });
  });

  test("E4, E5, E7: repeat and nextRun", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "DAILY" });
    expect(bench.ask("UpdateJob", { jobID: id, data: "{}", repeat: "often" })).toBe("402 Malformed repeat");
    bench.ask("UpdateJob", { jobID: id, data: "{}", repeat: "" });
    expect(bench.query(id)).toMatchObject({ repeat: "DAILY", nextRun: "2026-11-16 13:00:00" });
    bench.ask("UpdateJob", { jobID: id, data: "{}", repeat: "scheduled, +1 hour" });
    expect(bench.query(id)).toMatchObject({ repeat: "SCHEDULED, +1 HOUR", nextRun: "2026-11-16 14:00:00" });
    bench.ask("UpdateJob", { jobID: id, data: "{}", repeat: "HOURLY", nextRun: "2026-12-01 00:00:00" });
    expect(bench.query(id)).toMatchObject({ nextRun: "2026-12-01 00:00:00" });
    bench.ask("UpdateJob", { jobID: id, data: "{}", repeat: "HOURLY", shouldClearRepeat: "1" });
    expect(bench.query(id)).toMatchObject({ repeat: "" });
  });

  test("E6, E8: a new priority counts at once; an unknown job is 404", () => {
    const bench = new Bench();
    bench.create();
    const second = bench.create();
    expect(bench.ask("UpdateJob", { jobID: second, data: "{}", jobPriority: 7 })).toBe("402 Invalid priority value");
    bench.ask("UpdateJob", { jobID: second, data: "{}", jobPriority: 1000 });
    expect(bench.get().view.jobID).toBe(second);
    expect(bench.ask("UpdateJob", { jobID: 99, data: "{}" })).toBe("404 No job with this jobID");
  });
});

test("one answer brings a job once, however soon it is offered again", () => {
  const bench = new Bench();
  const id = bench.create({ retryAfter: "+0 SECONDS" });
  const content = bench.content("GetJobs", { name: "job", numResults: 5 });
  expect(content.kind === "taken" && content.jobs.map(({ view }) => view.jobID)).toEqual([id]);
  bench.pass(1);
  expect(bench.get().view.jobID).toBe(id);
});

describe("what a tenant's jobs cost", () => {
  const costs = (bench: Bench, tenant = "default") => {
    const { content } = bench.run({ verb: "CountJobs", tenant });
    const [usage] = content.kind === "counts" ? (content.usage ?? []) : [];
    return [usage?.started, usage?.running, usage?.endedMs, usage?.runningMs];
  };

  test("is the time from when a job is taken until it ends, is given back, or is taken by another", () => {
    const bench = new Bench();
    const [first, second] = [bench.create(), bench.create()];
    bench.create({ mockRequest: "true" });
    expect(costs(bench)).toEqual([0, 0, 0, 0]);
    const taken = [bench.get(), bench.get()];
    bench.now += 4_000;
    expect(costs(bench)).toEqual([2, 2, 0, 8_000]);
    bench.ask("FinishJob", { jobID: first, lease: taken[0]!.token });
    expect(costs(bench)).toEqual([2, 1, 4_000, 4_000]);
    bench.ask("UpdateJob", { jobID: second, lease: taken[1]!.token, data: '{"a":1}' });
    bench.pass(20_000);
    expect(costs(bench)).toEqual([2, 0, 28_000, 0]);
    bench.get();
    bench.ask("RequeueJobs", { jobIDs: `[${second}]` });
    expect(costs(bench)).toEqual([3, 0, 28_000, 0]);
    expect(costs(bench, "other")).toEqual([0, 0, 0, 0]);
  });

  test("of a run that is under way goes on under the next owner, who knows no more of what was before", () => {
    const bench = new Bench();
    for (let n = 0; n < 2; n++) bench.create();
    const taken = bench.get();
    bench.get();
    bench.ask("FinishJob", { jobID: taken.view.jobID, lease: taken.token });
    bench.now += 3_000;
    bench.takeOver();
    expect(costs(bench)).toEqual([1, 1, 0, 3_000]);
  });
});
