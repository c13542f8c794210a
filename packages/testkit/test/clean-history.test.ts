import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { paths, uncounted } from "@sluice/queue-core";
import { create, History, remove, set } from "./history.ts";

let history: History;
beforeEach(async () => {
  history = await History.start();
});
afterEach(() => history.end());

describe("the checker finds nothing in", () => {
  test("a batch of two jobs that goes through all stages and reports", async () => {
    const { batch, jobs } = await history.batch(2);
    for (const id of jobs) await history.stepTo(id, "Completed");
    await history.report(batch, "Completed", [], jobs);

    expect(history.check(true)).toEqual([]);
  });

  test("a job that fails, is reported, resumed and reported again", async () => {
    const { batch, jobs } = await history.batch(1);
    const [id] = jobs;
    await history.stepTo(id!, "Downloading");
    await history.step(id!, "Failed");
    await history.send("notifier", [await history.historyOp(id!, (job) => ({ ...job, called: [1, "delivered"] }))]);
    await history.report(batch, "Failed", jobs, []);
    await history.operate(id!, "Downloading", "resume", { retry: 1 });
    await history.stepTo(id!, "Completed");
    const again = await history.gateOps(batch, "Failed", "UpdateReporting");
    await history.send("operator", [...again, history.auditOp(batch)]);
    await history.send("reporter", await history.claimBatchOps(batch));
    await history.send("reporter", [
      ...(await history.batchMoveOps(batch, "UpdateReporting", "Completed")),
      remove(paths.batchLock(batch)),
    ]);

    expect(history.check(true)).toEqual([]);
  });

  test("holds, releases, priorities and failures by operators", async () => {
    const { jobs } = await history.batch(3);
    const [held, hurried, failed] = jobs;
    await history.operate(held!, "Held", "hold");
    await history.operate(held!, "Pending", "release");
    await history.send("operator", [
      set(paths.jobPriority(hurried!), Buffer.from("1"), 0),
      remove(paths.queueEntry("Pending", 5, hurried!)),
      create(paths.queueEntry("Pending", 1, hurried!)),
      history.auditOp(hurried!),
    ]);
    // A running job: its owner is fenced out, and its lock goes with it.
    await history.claim(failed!);
    await history.operate(failed!, "Failed", "op-fail", { keepLock: false });

    expect(history.check()).toEqual([]);
  });

  test("an operator's action that a stage's own process carries out", async () => {
    const { jobs } = await history.batch(1);
    await history.step(jobs[0]!, "Failed");
    const resume = { kind: "resume", retry: 1, keepLock: true } as const;
    const ops = await history.moveOps(jobs[0]!, "Pending", resume);
    await history.send("reporter", [...ops, history.auditOp(jobs[0]!)]);

    expect(history.check()).toEqual([]);
  });

  test("a job given back, a worker that died and another that goes on", async () => {
    const { jobs } = await history.batch(1);
    const [id] = jobs;
    const status = paths.jobStatus(id!);
    await history.claim(id!);
    await history.send("batch-intake", [
      set(status, await history.data(status), await history.version(status)),
      remove(paths.jobLock(id!)),
    ]);
    await history.claim(id!);
    const dead = await history.successor("batch-intake");
    await dead.close();
    await history.step(id!);

    expect(history.check()).toEqual([]);
  });

  test("a deleted batch that takes its jobs along and is cleaned up", async () => {
    const { batch, jobs } = await history.batch(1);
    const [id] = jobs;
    await history.step(id!, "Failed");
    await history.report(batch, "Failed", jobs, []);
    await history.send("operator", [
      ...(await history.batchMoveOps(batch, "Failed", "Deleted")),
      history.auditOp(batch),
    ]);
    await history.send("reporter", await history.moveOps(id!, "Deleted", { kind: "delete", keepLock: true }));
    await history.send("reporter", await cleanUpOps(id!, batch));

    expect(history.check(true)).toEqual([]);
  });
});

describe("the checker lets those do it who hold no lock:", () => {
  test("a stage that says why a job waits, and takes back the attempt of a claim that it lost", async () => {
    const { jobs } = await history.batch(1);
    const [id] = jobs;
    const why = await history.historyOp(id!, (job) => ({ ...job, why: "no room" }));
    await history.send("batch-intake", [why]);
    await history.claim(id!);
    await (await history.successor("batch-intake")).close();
    const event = { op: "back", atMs: 0, kind: "handback", state: "Pending", by: "w", detail: "" } as const;
    const back = await history.historyOp(id!, (job) => uncounted(job, event));
    await history.send("batch-intake", [back]);

    expect(history.check(true)).toEqual([]);
  });

  test("a reporter that sweeps the entry of a completed job", async () => {
    const { jobs } = await history.batch(1);
    await history.stepTo(jobs[0]!, "Completed");
    await history.send("reporter", [remove(paths.queueEntry("Completed", 5, jobs[0]!))]);

    expect(history.check(true)).toEqual([]);
  });

  test("a reporter that opens the report and names its write in the cursor", async () => {
    const { batch, jobs } = await history.batch(1);
    await history.step(jobs[0]!, "Failed");
    const gate = await history.gateOps(batch);
    await history.send("reporter", [...gate, await history.cursorOp(batch, 0)]);

    expect(history.check(true)).toEqual([]);
  });

  test("a reporter that notes that the failure of a batch without jobs was told", async () => {
    const { batch } = await history.batch(0);
    await history.send("batch-intake", await history.claimBatchOps(batch));
    const failed = await history.batchMoveOps(batch, "Processing", "Failed");
    await history.send("batch-intake", [...failed, remove(paths.batchLock(batch))]);
    await history.send("reporter", [history.reportOp(batch, [], [])]);

    expect(history.check(true)).toEqual([]);
  });
});

async function cleanUpOps(id: Parameters<typeof paths.job>[0], batch: Parameters<typeof paths.batch>[0]) {
  const nodes = ["bid", "configuration", "priority", "space_needed", "status"].map(
    (name) => `${paths.job(id)}/${name}`,
  );
  const versioned = [...nodes, paths.fleetJob(id)].map(async (path) => remove(path, await history.version(path)));
  return [
    ...(await Promise.all(versioned)),
    remove(paths.job(id)),
    remove(paths.queueEntry("Deleted", 5, id)),
    remove(paths.bucketEntry(batch, "batch-deleted", id)),
  ];
}
