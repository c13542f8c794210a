/** What the etcd document asks of container jobs: their States, and compare-and-swap. */
import { expect, test } from "@jest/globals";
import type { SwapJob } from "../src/shard/commands.ts";
import { containerStates } from "../src/shard/container-states.ts";
import { readData } from "../src/shard/data.ts";
import { isStatus } from "../src/shard/params.ts";
import { recordOfRun } from "../src/shard/runs.ts";
import type { JobRecord } from "../src/shard/views.ts";
import { Bench } from "./support/bench.ts";

const DATA = '{"Container":{"Config":{"Image":"img"}},"Fileset":{}}';
const container = (bench: Bench): number => bench.create({ name: "container", data: DATA });

function described(bench: Bench, id: number): JobRecord {
  const content = bench.content("DescribeJob", { jobID: id });
  if (content.kind !== "record") throw new Error("no record");
  return content.record;
}

const statesOf = (record: JobRecord): readonly string[] =>
  containerStates(record).map(({ State, Step }) => (Step === "" ? State : `${State} ${Step}`));

function swap(bench: Bench, id: number, change: Partial<SwapJob>): string {
  const { version = -1, state } = described(bench, id);
  const data = readData('{"Container":{"Config":{"Image":"img"},"Id":"c1"},"Fileset":{}}');
  if (isStatus(data)) throw new Error(data.text);
  const { status } = bench.run({
    ...{ verb: "SwapJob", tenant: "default", id, version, from: state === "QUEUED" ? "QUEUED" : "STARTED" },
    ...{ phase: "STARTED", worker: "w1", data, step: "", outcome: null, leaseMs: 60_000 },
    ...change,
  });
  return `${status.code} ${status.text}`;
}

test("every state stays, with the step it ended with, over retries, another owner and the end", () => {
  const bench = new Bench();
  const id = container(bench);
  for (let n = 1; n <= 10; n++) {
    const { token } = bench.get("container");
    for (const step of ["pull", `run ${n}`]) bench.ask("UpdateJob", { jobID: id, data: DATA, step, lease: token });
    bench.now += 1_000;
    if (n < 10) bench.ask("RetryJob", { jobID: id, lease: token });
    else bench.ask("FinishJob", { jobID: id, lease: token, data: DATA });
    bench.reload();
  }
  const record = recordOfRun(bench.ended.at(-1)!);
  const runs = Array.from({ length: 10 }, (_, n) => ["QUEUED", `STARTED run ${n + 1}`]).flat();
  expect(statesOf(record)).toEqual([...runs, "FINISHED"]);
  const dates = containerStates(record).map(({ Date: date }) => date);
  expect([...dates].sort()).toEqual(dates);
});

test("what a caller says of States does not count, and other types of jobs have none", () => {
  const bench = new Bench();
  const id = container(bench);
  const forged = '{"Container":{},"States":[{"State":"FINISHED","Step":"","Date":"2000-01-01T00:00:00.000Z"}]}';
  bench.ask("UpdateJob", { jobID: id, data: forged });
  expect(statesOf(described(bench, id))).toEqual(["QUEUED"]);
  const { token } = bench.get("container");
  bench.ask("RetryJob", { jobID: id, lease: token, data: forged });
  expect(statesOf(described(bench, id))).toEqual(["QUEUED", "STARTED", "QUEUED"]);
  const other = bench.create({ data: '{"States":[]}' });
  bench.get();
  expect(bench.query(other)["data"]).toBe('{"States":[]}');
});

test("of very many states the first and the last ones stay", () => {
  const bench = new Bench();
  const id = container(bench);
  for (let n = 0; n < 150; n++) {
    bench.get("container");
    bench.ask("RequeueJobs", { jobIDs: id });
  }
  const states = containerStates(described(bench, id));
  expect(states).toHaveLength(200);
  expect(states[0]?.Date).toBe(new Date(bench.now).toISOString());
});

test("its version changes with every write, and with none else; another owner knows it", () => {
  const bench = new Bench();
  const id = container(bench);
  const versions = [described(bench, id).version];
  const { token } = bench.get("container");
  versions.push(described(bench, id).version);
  bench.ask("UpdateJob", { jobID: id, data: DATA, step: "pull", lease: token });
  versions.push(described(bench, id).version);
  bench.run({ verb: "RenewLeases", tenant: "default", leases: [{ id, token }] });
  bench.ask("UpdateJob", { jobID: id, data: DATA, step: "pull", lease: token });
  versions.push(described(bench, id).version);
  expect(versions).toEqual([0, 1, 2, 2]);
});

test("E13: of two workers that read the same job one claims it; the other is told, and nothing has changed", () => {
  const bench = new Bench();
  const id = container(bench);
  const { version } = described(bench, id);
  expect(swap(bench, id, { version: version!, worker: "w1" })).toBe("200 OK");
  const claimed = bench.written.get(id);
  expect(swap(bench, id, { version: version!, worker: "w2" })).toBe("412 Compare failed");
  expect(bench.written.get(id)).toBe(claimed);
  expect(described(bench, id)).toMatchObject({ state: "RUNNING", owner: "w1" });
});

test("a worker of the document claims, steps and ends a job", () => {
  const bench = new Bench();
  const id = container(bench);
  expect(swap(bench, id, {})).toBe("200 OK");
  expect(JSON.parse(described(bench, id).data)).toMatchObject({ Container: { Id: "c1" } });
  expect(swap(bench, id, { step: "pull" })).toBe("200 OK");
  expect(swap(bench, id, { worker: "w2" })).toBe("405 Owner changes only when a job is claimed or given back");
  bench.pass(59_000);
  expect(described(bench, id)).toMatchObject({ state: "RUNNING", step: "pull" });
  expect(swap(bench, id, { phase: "FINISHED", outcome: { isWell: true, info: "ok" } })).toBe("200 OK");
  expect(bench.ended.map(({ done }) => [done.worker, done.exit, done.result])).toEqual([["w1", 200, "ok"]]);
});

test("a worker of the document gives a job back, or fails it; a job is not finished before it was claimed", () => {
  const bench = new Bench();
  const id = container(bench);
  expect(swap(bench, id, { phase: "FINISHED" })).toMatch(/^405 A job is claimed/);
  for (const change of [{}, { phase: "QUEUED", worker: "" }, {}] as const)
    expect(swap(bench, id, change)).toBe("200 OK");
  expect(swap(bench, id, { phase: "FINISHED", outcome: { isWell: false, info: "exit code 3" } })).toBe("200 OK");
  expect(described(bench, id)).toMatchObject({ state: "FAILED" });
  expect(bench.ended.at(-1)?.done).toMatchObject({ outcome: "failed", exit: 400, result: "exit code 3" });
  expect(statesOf(described(bench, id))).toEqual(["QUEUED", "STARTED", "QUEUED", "STARTED", "FINISHED"]);
});

test("a job that waits for its time is not claimed", () => {
  const bench = new Bench();
  const id = bench.create({ name: "container", data: DATA, firstRun: "2027-01-01" });
  expect(swap(bench, id, {})).toMatch(/^405 This job cannot be claimed now/);
});
