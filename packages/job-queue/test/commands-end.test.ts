/** Lines F to H of the checklist of Bedrock's commands, and the leases. */
import { describe, expect, test } from "@jest/globals";
import { Bench } from "./support/bench.ts";

const TOO_LATE = "405 Can only cancel jobs that have not yet changed to RUNNING";

/** A parent that waits for its children, which are ready. */
function family(bench: Bench, children = 1): { readonly parent: number; readonly ids: readonly number[] } {
  const parent = bench.create({ name: "parent" });
  bench.get("parent");
  const ids = Array.from({ length: children }, () => bench.create({ name: "child", parentJobID: parent }));
  bench.ask("FinishJob", { jobID: parent });
  return { parent, ids };
}

describe("F: how a run ends", () => {
  test.each(["FinishJob", "RetryJob"])("F1: %s is for jobs that run; mocked ones may be in any state", (verb) => {
    const bench = new Bench();
    const id = bench.create();
    expect(bench.ask(verb, { jobID: id })).toBe("405 Can only retry/finish RUNNING and RUNQUEUED jobs");
    expect(bench.ask(verb, { jobID: bench.create({ mockRequest: "true" }) })).toBe("200 OK");
    bench.get();
    expect(bench.ask(verb, { jobID: id })).toBe("200 OK");
  });

  test("F2: a child ends only while its parent waits", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench);
    bench.get("child");
    bench.shard.put(parent, { ...bench.shard.job(parent)!, state: "QUEUED" }, bench.now);
    expect(bench.ask("FinishJob", { jobID: ids[0]! })).toBe(
      "405 Can only retry/finish child job when parent is PAUSED",
    );
  });

  test("F3: data replaces, must be of the same world, and loses its counter", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "HOURLY" });
    bench.get();
    expect(bench.ask("FinishJob", { jobID: id, data: '{"mockRequest":true}' })).toBe("500 Mock Mismatch");
    expect(bench.ask("FinishJob", { jobID: id, data: '{"a":1,"retryAfterCount":4}' })).toBe("200 OK");
    expect(bench.query(id)["data"]).toBe('{"a":1}');
  });

  test("F4: data that says delete ends a repeating job", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "HOURLY" });
    bench.get();
    bench.ask("FinishJob", { jobID: id, data: '{"delete":true}' });
    expect(bench.state(id)).toBe("-");
  });

  test("F5: FinishJob takes no nextRun and no delay; RetryJob's schedule comes before its nextRun, that before its delay", () => {
    const bench = new Bench();
    const once = bench.create();
    bench.get();
    bench.ask("FinishJob", { jobID: once, nextRun: "2026-12-01", delay: 5 });
    expect(bench.state(once)).toBe("-");
    const id = bench.create({ repeat: "FINISHED, +1 HOUR" });
    const retry = (params: Record<string, string | number>): unknown => {
      bench.get();
      bench.ask("RetryJob", { jobID: id, ...params });
      const { nextRun } = bench.query(id);
      bench.ask("RequeueJobs", { jobIDs: id });
      return nextRun;
    };
    expect(retry({ nextRun: "2026-12-01", delay: 5 })).toBe("2026-11-16 14:00:00");
    expect(retry({ nextRun: "2026-12-01", delay: 5, ignoreRepeat: "true" })).toBe("2026-12-01 00:00:00");
    expect(retry({ delay: 5, ignoreRepeat: "true" })).toBe("2026-11-16 13:00:05");
    expect(retry({ ignoreRepeat: "true" })).toBe("2026-11-16 13:00:00");
  });

  test.each([
    ["-1", "402 Must specify a non-negative delay when retrying"],
    ["100000000", "402 Malformed delay"],
    ["soon", "402 Malformed delay"],
    ["99999999", "200 OK"],
  ])("F6: a delay of %s is answered %j", (delay, answer) => {
    const bench = new Bench();
    const id = bench.create();
    bench.get();
    expect(bench.ask("RetryJob", { jobID: id, delay })).toBe(answer);
  });

  test("F7, F8: RetryJob may give another name and priority, also to a job that repeats; it is QUEUED", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "HOURLY" });
    bench.get();
    expect(bench.ask("RetryJob", { jobID: id, jobPriority: 3 })).toBe("402 Invalid priority value");
    bench.ask("RetryJob", { jobID: id, name: "other", jobPriority: 1000 });
    expect(bench.query(id)).toMatchObject({ name: "other", priority: 1000, state: "QUEUED" });
    bench.now += 3_600_000;
    expect(bench.get("other").view.jobID).toBe(id);
  });

  test("F10: a repeating parent with pending children waits for them first", () => {
    const bench = new Bench();
    const parent = bench.create({ name: "parent", repeat: "HOURLY" });
    bench.get("parent");
    bench.create({ name: "child", parentJobID: parent });
    bench.ask("FinishJob", { jobID: parent });
    expect(bench.query(parent)).toMatchObject({ state: "PAUSED", nextRun: "2026-11-16 13:00:00" });
  });

  test("F11: FailJob is for jobs that run; its data replaces; a schedule is not followed", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "HOURLY" });
    expect(bench.ask("FailJob", { jobID: id })).toBe("405 Can only fail RUNNING or RUNQUEUED jobs");
    bench.get();
    expect(bench.ask("FailJob", { jobID: id, data: '{"why":"x"}' })).toBe("200 OK");
    expect(bench.query(id)).toMatchObject({ state: "FAILED", data: '{"why":"x"}', nextRun: "2026-11-16 13:00:00" });
  });

  test("F12: CancelJob is for jobs that do not run yet; the last child wakes its parent", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench, 3);
    expect(bench.ask("CancelJob", { jobID: parent })).toBe("404 Invalid jobID - Cannot cancel a job with children");
    const running = bench.get("child").view.jobID;
    expect([bench.ask("CancelJob", { jobID: running }), bench.state(running)]).toEqual([TOO_LATE, "RUNNING"]);
    for (const id of ids.slice(1)) bench.ask("CancelJob", { jobID: id });
    expect([...ids, parent].map((id) => bench.state(id))).toEqual(["RUNNING", "CANCELLED", "CANCELLED", "PAUSED"]);
    bench.ask("FinishJob", { jobID: running });
    expect(bench.ask("CancelJob", { jobID: running })).toBe(TOO_LATE);
    expect([bench.state(running), bench.state(parent)]).toEqual(["FINISHED", "QUEUED"]);
  });

  test("F12: a child that waits for its parent has not run, and can be cancelled", () => {
    const bench = new Bench();
    const parent = bench.create({ name: "parent" });
    bench.get("parent");
    const child = bench.create({ name: "child", parentJobID: parent });
    expect([bench.ask("CancelJob", { jobID: child }), bench.state(child)]).toEqual(["200 OK", "CANCELLED"]);
    expect([bench.ask("FinishJob", { jobID: parent }), bench.state(parent)]).toEqual(["200 OK", "-"]);
  });

  test("F12: a job without a parent is CANCELLED, never runs, and is gone after an hour", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "HOURLY" });
    expect([bench.ask("CancelJob", { jobID: id }), bench.state(id)]).toEqual(["200 OK", "CANCELLED"]);
    expect(bench.ask("CancelJob", { jobID: id })).toBe("200 OK");
    expect(bench.ask("GetJob", { name: "job" })).toBe("404 No job found");
    bench.pass(3_599_999);
    bench.takeOver();
    bench.pass(0);
    expect(bench.state(id)).toBe("CANCELLED");
    expect(bench.shard.nextEvent()).toBe(bench.now + 1);
    bench.pass(1);
    expect([bench.state(id), bench.written.size]).toEqual(["-", 0]);
  });

  test("F12: a unique job is made anew when the one of its name was cancelled", () => {
    const bench = new Bench();
    const cancelled = bench.create({ unique: "true" });
    bench.ask("CancelJob", { jobID: cancelled });
    const next = bench.create({ unique: "true" });
    expect([next !== cancelled, bench.create({ unique: "true" })]).toEqual([true, next]);
  });

  test("F12: of many cancelled jobs the last thousand are kept", () => {
    const bench = new Bench();
    const ids = Array.from({ length: 1_002 }, () => bench.create());
    for (const jobID of ids) bench.ask("CancelJob", { jobID });
    expect(ids.map((id) => bench.state(id))).toEqual(["-", "-", ...Array<string>(1_000).fill("CANCELLED")]);
  });

  test.each([{}, { retryAfter: "+1 HOUR" }])("F12: what runs or has failed is not cancelled (%j)", (params) => {
    const bench = new Bench();
    const id = bench.create(params);
    bench.get();
    expect([bench.ask("CancelJob", { jobID: id }), bench.ask("FailJob", { jobID: id })]).toEqual([TOO_LATE, "200 OK"]);
    expect([bench.ask("CancelJob", { jobID: id }), bench.state(id)]).toEqual([TOO_LATE, "FAILED"]);
  });

  test("F12: a cancelled job that is requeued runs and retries like any other", () => {
    const bench = new Bench();
    const id = bench.create();
    bench.ask("CancelJob", { jobID: id });
    bench.ask("RequeueJobs", { jobIDs: id });
    bench.get();
    expect([bench.ask("RetryJob", { jobID: id }), bench.state(id)]).toEqual(["200 OK", "QUEUED"]);
  });

  test("F13: DeleteJob is not for what runs or waits for children; children go with their parent", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench, 2);
    expect(bench.ask("DeleteJob", { jobID: parent })).toBe("405 Can't delete a parent jobs with children running");
    bench.get("child");
    expect(bench.ask("DeleteJob", { jobID: ids[0]! })).toBe("405 Can't delete a RUNNING job");
    const again = bench.create({ name: "again", retryAfter: "+1 HOUR" });
    bench.get("again");
    expect(bench.ask("DeleteJob", { jobID: again })).toBe("405 Can't delete a RUNNING job");
    bench.ask("FailJob", { jobID: ids[0]! });
    expect(bench.ask("DeleteJob", { jobID: ids[1]! })).toBe("200 OK");
    expect(bench.state(parent)).toBe("QUEUED");
    expect(bench.ask("DeleteJob", { jobID: parent })).toBe("200 OK");
    expect([...bench.written.keys()]).toEqual([again]);
  });

  test("F14: RequeueJobs takes any job in any state, with a new name if it likes, and knows no unknown ids", () => {
    const bench = new Bench();
    const ids = [bench.create(), bench.create({ firstRun: "2027-01-01" })];
    bench.get();
    expect(bench.ask("RequeueJobs", { jobIDs: [...ids, 999].join(","), name: "other" })).toBe("200 OK");
    expect(ids.map((id) => bench.query(id))).toMatchObject(
      ids.map(() => ({ state: "QUEUED", name: "other", nextRun: "2026-11-16 13:00:00" })),
    );
    expect(bench.ask("RequeueJobs", { jobIDs: "" })).toBe("200 OK");
  });

  test("F14: a child that is asked for again while its parent runs waits for its parent", () => {
    const bench = new Bench();
    const { parent, ids } = family(bench);
    bench.ask("FailJob", { jobID: bench.get("child").view.jobID });
    bench.get("parent");
    bench.ask("RequeueJobs", { jobIDs: ids[0]! });
    expect(bench.state(ids[0]!)).toBe("PAUSED");
    bench.ask("FinishJob", { jobID: parent });
    expect([bench.state(parent), bench.state(ids[0]!)]).toEqual(["PAUSED", "QUEUED"]);
  });

  test("F15: jobs of a crashing type are FAILED instead of given, until that is cleared", () => {
    const bench = new Bench();
    bench.ask("CrashBedrockJob", { name: "bad*,worse" });
    const ids = ["bad1", "worse", "good"].map((name) => bench.create({ name }));
    for (const name of ["bad1", "worse", "good"]) bench.ask("GetJob", { name });
    expect(ids.map((id) => bench.state(id))).toEqual(["FAILED", "FAILED", "RUNNING"]);
    bench.ask("ClearCrashedBedrockJobs");
    bench.create({ name: "bad1" });
    expect(bench.get("bad1").view.name).toBe("bad1");
  });
});

describe("G: retryAfter", () => {
  test("G1, G2: a job that was taken is offered again when its retryAfter has passed, and not before", () => {
    const bench = new Bench();
    const id = bench.create({ retryAfter: "+5 SECONDS" });
    bench.get();
    bench.now += 4999;
    expect(bench.ask("GetJob", { name: "job" })).toBe("404 No job found");
    bench.now += 1;
    expect(bench.get().view.jobID).toBe(id);
  });

  test("G3, G4, G5: each take is counted, except for manual ones; the eleventh fails the job; an end resets the count", () => {
    const bench = new Bench();
    const id = bench.create({ retryAfter: "+1 SECOND" });
    const manual = bench.create({ name: "manual/job", retryAfter: "+1 SECOND" });
    for (let n = 1; n <= 10; n++) {
      expect(bench.get().view.data).toBe(n === 1 ? "{}" : `{"retryAfterCount":${n - 1}}`);
      expect(bench.query(id)["data"]).toBe(`{"retryAfterCount":${n}}`);
      expect(bench.get("manual*").view.data).toBe("{}");
      bench.now += 1000;
    }
    expect(bench.ask("GetJob", { name: "job" })).toBe("200 OK");
    expect([bench.state(id), bench.get("manual*").view.jobID]).toEqual(["FAILED", manual]);
    const other = bench.create({ retryAfter: "+1 SECOND" });
    const { token } = bench.get();
    bench.ask("RetryJob", { jobID: other, lease: token });
    expect([bench.get().view.data, bench.query(other)["data"]]).toEqual(["{}", '{"retryAfterCount":1}']);
  });

  test("G3: a holder that sends its data back does not lower the count; an operator can set it", () => {
    const bench = new Bench();
    const id = bench.create({ retryAfter: "+1 SECOND" });
    bench.get();
    bench.now += 1000;
    const { view } = bench.get();
    bench.ask("UpdateJob", { jobID: id, data: view.data });
    expect(bench.query(id)["data"]).toBe('{"retryAfterCount":2}');
    bench.ask("RequeueJobs", { jobIDs: id });
    bench.ask("UpdateJob", { jobID: id, data: '{"retryAfterCount":0}' });
    expect(bench.query(id)["data"]).toBe("{}");
  });

  test.each(["FinishJob", "RetryJob", "FailJob"])("G7: after a re-offer the present holder may call %s", (verb) => {
    const overtaken = "405 This job was given to another worker";
    const taken = () => {
      const bench = new Bench();
      const id = bench.create({ retryAfter: "+1 SECOND" });
      const first = bench.get("job", {}, "default", "w1");
      bench.now += 1000;
      return { bench, id, first, second: bench.get("job", {}, "default", "w2") };
    };
    const { bench, id, first } = taken();
    expect(bench.ask(verb, { jobID: id, lease: first.token })).toBe(overtaken);
    expect(bench.ask(verb, { jobID: id }, "default", "w1")).toBe(overtaken);
    expect(bench.ask(verb, { jobID: id }, "default", "w2")).toBe("200 OK");
    for (const present of [(t: string) => ({ lease: t }), () => ({})]) {
      const again = taken();
      expect(again.bench.ask(verb, { jobID: again.id, ...present(again.second.token) }, "default", "")).toBe("200 OK");
    }
  });
});

describe("H: repeat", () => {
  test("H3, H7 and the sample session: a job that repeats comes again, with the data that it finished with", () => {
    const bench = new Bench();
    const id = bench.create({ name: "foo", data: '{"value":1}', repeat: "finished, +1 minute" });
    expect(bench.get("foo").view).toMatchObject({ jobID: 1, name: "foo", data: '{"value":1}' });
    bench.ask("UpdateJob", { jobID: id, data: '{"value":2}' });
    expect(bench.query(id)).toMatchObject({ data: '{"value":2}', state: "RUNNING" });
    expect(bench.ask("FinishJob", { jobID: id, data: '{"value":3}' })).toBe("200 OK");
    expect(bench.ask("GetJob", { name: "foo" })).toBe("404 No job found");
    expect(bench.query(id)).toMatchObject({ state: "QUEUED", nextRun: "2026-11-16 13:01:00" });
    bench.now += 60_000;
    expect(bench.get("foo").view.data).toBe('{"value":3}');
  });

  test("H5: SCHEDULED runs what it missed, one after the other", () => {
    const bench = new Bench();
    const id = bench.create({ repeat: "SCHEDULED, +1 HOUR" });
    bench.at("2026-11-16 16:30:00");
    const times: unknown[] = [];
    while (bench.ask("GetJob", { name: "job" }) === "200 OK") {
      bench.ask("FinishJob", { jobID: id });
      times.push(bench.query(id)["nextRun"]);
    }
    expect(times).toEqual(["14", "15", "16", "17"].map((hour) => `2026-11-16 ${hour}:00:00`));
  });

  test("a schedule that leaves the calendar fails its job", () => {
    const bench = new Bench();
    bench.at("9999-12-31 12:00:00");
    const id = bench.create({ repeat: "FINISHED, +1 YEAR" });
    bench.get();
    expect([bench.ask("FinishJob", { jobID: id }), bench.state(id)]).toEqual(["200 OK", "FAILED"]);
  });
});

describe("a lease", () => {
  test("that is not renewed gives its job back, plain ones too, and its old holder is refused", () => {
    const bench = new Bench();
    const id = bench.create();
    const first = bench.get();
    bench.pass(9_999);
    expect(bench.state(id)).toBe("RUNNING");
    bench.pass(1);
    expect(bench.state(id)).toBe("QUEUED");
    const second = bench.get();
    expect(bench.ask("FinishJob", { jobID: id, lease: first.token })).toBe("405 This job was given to another worker");
    expect(bench.ask("FinishJob", { jobID: id, lease: second.token })).toBe("200 OK");
  });

  test("that is renewed lasts, costs no write, and outlives its shard's owner", () => {
    const bench = new Bench();
    const id = bench.create();
    const { token } = bench.get();
    for (let n = 0; n < 5; n++) {
      bench.pass(9_000);
      expect(
        bench.run({
          verb: "RenewLeases",
          tenant: "default",
          leases: [
            { id, token },
            { id: 99, token: "1.1" },
          ],
        }).content,
      ).toEqual({ kind: "lost", ids: [99] });
    }
    bench.now += 9_999;
    bench.takeOver();
    bench.pass(9_999);
    expect(bench.state(id)).toBe("RUNNING");
    expect(bench.ask("FinishJob", { jobID: id, lease: token })).toBe("200 OK");
  });

  test("ends with maxRunTime, renewed or not", () => {
    const bench = new Bench();
    const id = bench.create({ maxRunTime: 12_000 });
    const { token } = bench.get();
    bench.pass(9_000);
    bench.run({ verb: "RenewLeases", tenant: "default", leases: [{ id, token }] });
    bench.pass(3_000);
    expect(bench.state(id)).toBe("QUEUED");
  });

  test("that is lost ten times fails its job", () => {
    const bench = new Bench();
    const id = bench.create();
    for (let n = 0; n < 10; n++) {
      expect(bench.get().view.jobID).toBe(id);
      bench.pass(10_000);
    }
    expect(bench.state(id)).toBe("FAILED");
  });

  test("of a job with retryAfter does not run out: the job is its taker's until nextRun", () => {
    const bench = new Bench();
    const id = bench.create({ retryAfter: "+1 HOUR" });
    const { token } = bench.get();
    const { nextRun } = bench.query(id);
    bench.pass(14_000);
    bench.takeOver();
    bench.run({ verb: "ReleaseWorker", worker: "w" });
    bench.pass(3_600_000 - 14_001);
    expect([bench.query(id)["state"], bench.query(id)["nextRun"]]).toEqual(["RUNQUEUED", nextRun]);
    expect(bench.ask("GetJob", { name: "job" })).toBe("404 No job found");
    bench.pass(1);
    expect(bench.get().view.jobID).toBe(id);
    expect(bench.ask("FinishJob", { jobID: id, lease: token })).toBe("405 This job was given to another worker");
  });

  test("of a job with retryAfter ends with maxRunTime", () => {
    const bench = new Bench();
    const id = bench.create({ retryAfter: "+1 HOUR", maxRunTime: 12_000 });
    bench.get();
    bench.pass(12_000);
    expect(bench.state(id)).toBe("QUEUED");
  });

  test.each([{}, { repeat: "HOURLY" }])(
    "a finish that is repeated gets the first answer and is done once (%j)",
    (params) => {
      const bench = new Bench();
      const id = bench.create(params);
      const { token } = bench.get();
      for (let n = 0; n < 3; n++) expect(bench.ask("FinishJob", { jobID: id, lease: token })).toBe("200 OK");
      expect(bench.done).toEqual([`${id}-${token}`]);
    },
  );
});
