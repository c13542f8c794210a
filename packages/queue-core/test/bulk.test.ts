/** One order for many jobs: counted first, grouped, each job fenced and audited for itself. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  aBatchOfJobs,
  aJobSpec,
  checkInvariants,
  claimJob,
  describeViolation,
  testWorker,
  type TestWorker,
  type TestZooKeeper,
  testZooKeeper,
  touches,
  readTransactions,
} from "@sluice/testkit";
import {
  actOnJob,
  auditedJobs,
  auditProblem,
  type AuditRecord,
  type BulkProgress,
  countJobs,
  isAmongJobs,
  type JobFilter,
  type JobId,
  jobId,
  jobNumber,
  orderJobs,
  paths,
  readJobs,
  records,
  selectJobs,
  setHold,
} from "../src/index.ts";

const OLGA = { name: "olga", reason: "the store is back" };
let zk: TestZooKeeper;
let intake: TestWorker;
let operator: TestWorker;

beforeEach(async () => {
  zk = await testZooKeeper();
  intake = await testWorker(zk.connect, "batch-intake");
  operator = await testWorker(zk.connect, "operator", { register: false });
});
afterEach(async () => {
  await Promise.all([intake, operator].map((w) => w.close()));
});

async function selected(filter: JobFilter): Promise<readonly JobId[]> {
  const ids: JobId[] = [];
  for await (const page of selectJobs(operator.session, filter, { nowMs: Date.now() })) {
    if (page.kind === "silence") throw new Error("no answer");
    ids.push(...page.jobs.map(({ id }) => id));
  }
  return ids;
}

async function failedJobs(count: number) {
  const made = await aBatchOfJobs(intake, count);
  const failed = await orderJobs(operator.ctx, OLGA, { action: "fail" }, { ids: made.jobs });
  if (failed.progress.done !== count) throw new Error(JSON.stringify(failed));
  return made;
}

async function statesOf(ids: readonly JobId[]): Promise<readonly string[]> {
  const views = await readJobs(operator.session, ids);
  return (views ?? []).map((view) => (view.kind === "found" ? view.value.status.status : view.kind));
}

async function auditChain(): Promise<readonly AuditRecord[]> {
  const names = await operator.session.children(paths.auditRecords);
  const numbers = names.ok ? names.value.names.map(Number).sort((a, b) => a - b) : [];
  const nodes = await operator.session.readMany(numbers.map((number) => ({ get: paths.auditRecord(number) })));
  return (nodes.ok ? nodes.value : []).flatMap((answer) => {
    const record = answer.kind === "node" ? records.auditRecord.decode(answer.node.data) : null;
    return record?.ok === true ? [record.value] : [];
  });
}

const violations = () =>
  checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map((each) => describeViolation(each));

describe("a filter", () => {
  test("finds jobs by state, batch, priority, collection, submitter, code, age and id, and by all of them together", async () => {
    const plain = await aBatchOfJobs(intake, 2);
    const spec = aJobSpec();
    const other = await aBatchOfJobs(intake, [
      { ...spec, priority: 40, configuration: { ...spec.configuration, profile_name: "other_content" } },
      { ...spec, priority: 60, configuration: { ...spec.configuration, submitter: "paul" } },
    ]);
    const [low, high] = other.jobs;
    await actOnJob(operator.ctx, OLGA, "fail", plain.jobs[0]!);
    expect(await selected({ states: ["Failed"] })).toEqual([plain.jobs[0]]);
    expect(await selected({ states: ["Pending"] })).toEqual([plain.jobs[1], low, high]);
    expect(await selected({ batch: plain.batch })).toEqual([plain.jobs[1], plain.jobs[0]]);
    expect(await selected({ batch: plain.batch, states: ["Pending"] })).toEqual([plain.jobs[1]]);
    expect(await selected({ priority: { min: 40, max: 59 } })).toEqual([low]);
    expect(await selected({ batch: other.batch, priority: { min: 41 } })).toEqual([high]);
    expect(await selected({ collection: "other_content" })).toEqual([low]);
    expect(await selected({ submitter: "paul" })).toEqual([high]);
    expect(await selected({ wants: ({ configuration }) => configuration.submitter === "paul" })).toEqual([high]);
    expect(await selected({ wants: ({ identifiers }) => identifiers !== null })).toEqual([]);
    expect(await selected({ errorCode: "OPERATOR_FAILED" })).toEqual([plain.jobs[0]]);
    expect(await selected({ errorCode: "STORE_FAILED" })).toEqual([]);
    expect(await selected({ olderThanMs: 3_600_000 })).toEqual([]);
    expect(await selected({ olderThanMs: -60_000 })).toHaveLength(4);
    expect(await selected({ ids: [low!, high!, low!], batch: plain.batch })).toEqual([]);
    expect(await selected({ ids: [low!, high!, low!], collection: "other_content", states: ["Pending"] })).toEqual([
      low,
    ]);
  });

  test("is counted before anything is done, by state and collection, with examples", async () => {
    const { jobs } = await aBatchOfJobs(intake, 30);
    await actOnJob(operator.ctx, OLGA, "fail", jobs[0]!);
    const count = await countJobs(operator.session, {}, Date.now());
    expect(count).toMatchObject({
      total: 30,
      byState: { Pending: 29, Failed: 1 },
      byCollection: { sluice_demo_content: 30 },
    });
    expect(count?.examples).toHaveLength(20);
  });
});

describe("an order for many jobs", () => {
  test("resumes them in few transactions, with one audit record of all of them and the chain whole", async () => {
    const { jobs } = await failedJobs(45);
    const before = [...readTransactions(zk.logDir, zk.root)].filter((each) =>
      touches(each, `${zk.root}${paths.auditHead}`),
    ).length;
    const seen: number[] = [];
    const result = await orderJobs(
      operator.ctx,
      OLGA,
      { action: "resume" },
      { states: ["Failed"] },
      { expectedCount: 45, onProgress: ({ done }) => seen.push(done) },
    );
    expect(result).toEqual({
      kind: "finished",
      progress: { total: 45, done: 45, refused: {}, conflicts: 0, notFound: 0 },
      exceptions: [],
    });
    expect(seen).toEqual([20, 40, 45]);
    expect(new Set(await statesOf(jobs))).toEqual(new Set(["Pending"]));
    const after = [...readTransactions(zk.logDir, zk.root)].filter((each) =>
      touches(each, `${zk.root}${paths.auditHead}`),
    ).length;
    expect(after - before).toBe(1);
    const chain = await auditChain();
    expect(auditProblem(chain)).toBeNull();
    const last = chain.at(-1)!;
    expect(last).toMatchObject({ actor: "olga", action: "bulk.resume 45 jobs", jobs: auditedJobs(jobs) });
    expect(chain.filter(({ action }) => action.includes("resume"))).toHaveLength(1);
    expect(jobs.map((id) => isAmongJobs(last, id))).toEqual(jobs.map(() => true));
    expect(isAmongJobs(last, "jid0999999999" as JobId)).toBe(false);
    expect(violations()).toEqual([]);
  });

  test("does nothing when the number is not the one that was counted", async () => {
    const { jobs } = await failedJobs(3);
    const result = await orderJobs(
      operator.ctx,
      OLGA,
      { action: "resume" },
      { states: ["Failed"] },
      { expectedCount: 2 },
    );
    expect(result).toMatchObject({ kind: "unexpected-count", expected: 2, progress: { total: 3, done: 0 } });
    expect(new Set(await statesOf(jobs))).toEqual(new Set(["Failed"]));
  });

  test("says of each job that it did not reach why, and goes on with the others", async () => {
    const { jobs } = await failedJobs(5);
    await actOnJob(operator.ctx, { name: "paul", reason: "no" }, "delete", jobs[1]!);
    const gone = "jid0999999999" as JobId;
    const filter = { ids: [...jobs, gone] };
    // A filter by id keeps what is there; the one that is not was never selected.
    const result = await orderJobs(operator.ctx, OLGA, { action: "resume" }, filter);
    expect(result).toMatchObject({
      kind: "finished",
      progress: { total: 5, done: 4, refused: { "the job is Deleted, only a Failed one can be resumed": 1 } },
      exceptions: [{ id: jobs[1], result: { last: { actor: "paul", action: "delete" } } }],
    });
  });

  test("takes a job whose nodes contradict each other out of its group", async () => {
    const { jobs } = await failedJobs(4);
    await operator.session.multi([{ op: "delete", path: paths.queueEntry("Failed", 5, jobs[2]!), version: 0 }]);
    const result = await orderJobs(operator.ctx, OLGA, { action: "resume" }, { ids: jobs });
    expect(result.progress).toEqual({ total: 4, done: 3, refused: {}, conflicts: 1, notFound: 0 });
    expect(result.exceptions).toMatchObject([{ id: jobs[2], result: { why: expect.stringContaining("run fsck") } }]);
    expect(await statesOf(jobs)).toEqual(["Pending", "Pending", "Failed", "Pending"]);
  });

  test("obeys a hold that comes while it runs", async () => {
    const { jobs } = await failedJobs(60);
    const held: Promise<unknown>[] = [];
    const result = await orderJobs(
      operator.ctx,
      OLGA,
      { action: "resume" },
      { states: ["Failed"] },
      {
        onProgress: ({ done }) => {
          if (done === 20) held.push(setHold(intake.ctx, OLGA, { kind: "collection", profile: "sluice_demo_content" }));
        },
      },
    );
    await Promise.all(held);
    const failed = (await statesOf(jobs)).filter((state) => state === "Failed").length;
    expect(result.progress.done).toBe(60 - failed);
    expect(result.progress.refused).toEqual(
      failed === 0 ? {} : { "the collection sluice_demo_content is held": failed },
    );
    expect(violations()).toEqual([]);
  });

  test("stops where it is when it is told to", async () => {
    await failedJobs(60);
    const abort = new AbortController();
    const result = await orderJobs(
      operator.ctx,
      OLGA,
      { action: "resume" },
      { states: ["Failed"] },
      {
        signal: abort.signal,
        onProgress: () => abort.abort(),
      },
    );
    expect(result).toMatchObject({ kind: "aborted", progress: { total: 60, done: 20 } });
  });

  test("of two operators at once moves each job once, and every record is in the chain", async () => {
    const { jobs } = await failedJobs(50);
    const results = await Promise.all([
      orderJobs(operator.ctx, OLGA, { action: "resume" }, { ids: jobs }),
      orderJobs(intake.ctx, { name: "paul", reason: "me too" }, { action: "resume" }, { ids: jobs }),
    ]);
    expect(results[0].progress.done + results[1].progress.done).toBe(50);
    expect(auditProblem(await auditChain())).toBeNull();
    expect(violations()).toEqual([]);
  });

  test("writes its tally with the jobs that move, and moves none when somebody else has written it", async () => {
    const { jobs } = await failedJobs(50);
    const path = "/fleet/tally";
    await operator.session.multi([{ op: "create", path, data: Buffer.from("") }]);
    const told: [JobId, number][] = [];
    const tally = {
      ops: (through: JobId, { done }: BulkProgress) => {
        told.push([through, done]);
        // The third comes too late.
        return [{ op: "set", path, data: Buffer.from(through), version: Math.min(told.length - 1, 1) } as const];
      },
      applied: () => undefined,
    };
    const result = await orderJobs(operator.ctx, OLGA, { action: "resume" }, { ids: jobs }, { tally });
    expect(result).toMatchObject({ kind: "outdated", progress: { total: 50, done: 40 } });
    expect(told).toEqual([
      [jobs[19], 20],
      [jobs[39], 40],
      [jobs[49], 50],
    ]);
    expect(await operator.session.get(path)).toMatchObject({ ok: true, value: { data: Buffer.from(jobs[39]!) } });
    expect(await selected({ states: ["Failed"] })).toEqual(jobs.slice(40));
    expect((await auditChain()).filter(({ action }) => action.includes("resume"))).toEqual([]);
  });

  test("of more jobs than a record can list is in the audit with their number and digest", () => {
    const many = Array.from({ length: 20_000 }, (_, i) => jobId(1 + i * 7));
    const { list, ...rest } = auditedJobs([...many].reverse());
    const digest = createHash("sha256")
      .update(records.jobNumbers.encode(many.map(jobNumber)))
      .digest("hex");
    expect({ list, ...rest }).toEqual({ list: undefined, count: 20_000, digest });
    expect(isAmongJobs({ jobs: rest }, many[0]!)).toBeNull();
  });

  test("fails running jobs too, changes priorities, and tells the reporters when the last job ended", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 25);
    await claimJob(intake, "Pending", jobs[0]!);
    const priority = await orderJobs(operator.ctx, OLGA, { action: "priority", priority: 7 }, { batch });
    expect(priority.progress.done).toBe(25);
    const failed = await orderJobs(operator.ctx, OLGA, { action: "fail" }, { batch });
    expect(failed.progress.done).toBe(25);
    expect(await operator.session.exists(paths.dueBatch(batch))).toMatchObject({ ok: true, value: { version: 0 } });
    const deleted = await orderJobs(operator.ctx, OLGA, { action: "delete" }, { batch, states: ["Failed"] });
    expect(deleted.progress.done).toBe(25);
    expect(violations()).toEqual([]);
  });
});
