/** Beside a program with CDL's library: what it does rightly is no finding, what it wrote after it had lost a job is one. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { actOnJob, beginBeside, type JobId, parseBatchId, paths, readJob } from "@sluice/queue-core";
import { advance, cdlLibrary, type CdlLibrary, claimJob, consumeOne, testWorker, tree } from "@sluice/testkit";
import { repair } from "../src/index.ts";
import { Bench, OLGA, short } from "./support.ts";

let bench: Bench;
let library: CdlLibrary;
let id: JobId;

beforeEach(async () => {
  bench = await Bench.open();
  library = await cdlLibrary(bench.connect);
  id = bench.jobs[0]!;
  await advance(bench.connect, id, "Recording");
  expect(await beginBeside(bench.operator.ctx, OLGA, "recorder")).toEqual({ kind: "applied" });
});
afterEach(async () => {
  await library.close();
  await bench.close();
});

/** It takes the job, loses it without a word, and does not know. */
async function lostWith() {
  const job = (await library.acquireJob("Recording"))!;
  await job.unlock();
  return job;
}

async function ourStages(...stages: readonly ("recorder" | "notifier")[]): Promise<void> {
  for (const stage of stages) {
    const worker = await testWorker(bench.connect, stage);
    const state = stage === "recorder" ? "Recording" : "Notify";
    await worker.jobs.commit(await claimJob(worker, state, id), { kind: "done", changes: {} });
    await worker.close();
  }
}

const statusNow = async () => {
  const job = await readJob(bench.operator.session, id);
  return job.kind === "found" ? job.value.status : null;
};

describe("what it does while it has a job", () => {
  test("is no finding: in hand, moved, failed", async () => {
    const job = await library.acquireJob("Recording");
    expect(short(await bench.look({ lockMs: 0 }))).toEqual([]);
    await job?.setStatus("Notify");
    await job?.unlock();
    expect(short(await bench.look())).toEqual([]);
    await advance(bench.connect, bench.jobs[1]!, "Recording");
    await consumeOne(library, "Recording", () => {
      throw new Error("no such owner");
    });
    expect(short(await bench.look())).toEqual([]);
  });

  test("and a batch that it makes is named until it is taken over", async () => {
    const made = await library.createBatch({ profile: "sluice_demo_content" });
    const report = await bench.look();
    expect(short(report)).toEqual([`IMPORT ${paths.batch(parseBatchId(made.id)!)}`]);
    expect(report.findings[0]).toMatchObject({ severity: "warn", what: expect.stringContaining("not taken over") });
  });
});

describe("a job that one wrote who had lost it", () => {
  test.each([
    ["over and done", async () => ourStages("recorder", "notifier"), "Completed", "Notify"],
    [
      "failed by an operator",
      async () => {
        expect(await actOnJob(bench.operator.ctx, OLGA, "fail", id)).toEqual({ kind: "applied" });
      },
      "Failed",
      "Recording",
    ],
  ] as const)("is found where it was %s, and put back there", async (_where, meanwhile, left, last) => {
    const late = await lostWith();
    await meanwhile();
    const before = await tree(bench.operator.session, { except: /^\/(fleet|zookeeper)/ });
    await late.setStatus("Notify");
    const report = await bench.look();
    expect(short(report)).toEqual([`UNFENCED ${paths.jobStatus(id)}`]);
    expect(report.findings[0]).toMatchObject({
      severity: "fail",
      what: expect.stringContaining(`left it ${left}, another program wrote Notify`),
    });
    expect(await repair(bench.operator.ctx, OLGA, report.findings[0]!)).toEqual({ kind: "applied" });
    expect(await statusNow()).toMatchObject({
      status: left,
      last_successful_status: last === "Recording" ? "Processing" : last,
    });
    expect(short(await bench.look())).toEqual([]);
    const after = await tree(bench.operator.session, { except: /^\/(fleet|zookeeper)/ });
    expect(Object.keys(after)).toEqual(Object.keys(before));
  });

  test("is left to people while somebody has it locked", async () => {
    const late = await lostWith();
    await ourStages("recorder", "notifier");
    await late.setStatus("Notify");
    await library.acquireJob("Notify");
    const report = await bench.look();
    expect(report.findings[0]).toMatchObject({ rule: "UNFENCED", human: expect.stringContaining("logs") });
  });
});
