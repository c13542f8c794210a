/** A queue of CDL's libraries is brought over once, whoever dies in between. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { fsck } from "@sluice/fsck";
import {
  cleanUpBatch,
  findJobId,
  initTree,
  parseBatchId,
  parseJobId,
  parseJobUuid,
  paths,
  type QueueContext,
  readBatch,
  readJob,
} from "@sluice/queue-core";
import { cdlWriter, claimJob, testWorker, testZooKeeper, tree } from "@sluice/testkit";
import {
  bring,
  dyingAfter,
  look,
  oldConfiguration,
  type OldQueue,
  OPERATOR,
  openTarget,
  plantQueue,
  uuid,
} from "./support.ts";
import { importOldTree, lookAtOldTree } from "../src/index.ts";

let connect: string;
let old: OldQueue;
let ctx: QueueContext;
const open: QueueContext[] = [];

const opened = async (to: string): Promise<QueueContext> => {
  const made = await openTarget(to);
  open.push(made);
  return made;
};

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  old = await plantQueue(connect);
  ctx = await opened(connect);
});
afterEach(async () => {
  await old.cdl.close();
  await Promise.all(open.splice(0).map(({ session }) => session.close()));
});

const findingsIn = async ({ session }: QueueContext) => {
  const result = await fsck(session);
  if (result.kind !== "looked") throw new Error(result.kind);
  return result.report.findings.map(({ rule, path, what }) => `${rule} ${path} ${what}`);
};
const jobOf = async ({ session }: QueueContext, was: string) => {
  const view = await readJob(session, parseJobId(old.jobs[was] ?? "")!);
  if (view.kind !== "found") throw new Error(`${was}: ${view.kind}`);
  return view.value;
};
/** Everything but what differs from run to run. */
const whole = ({ session }: QueueContext) =>
  tree(session, { except: /^\/fleet\/(id|epoch|audit|workers)|^\/zookeeper/ });

describe("where it stands", () => {
  test("a dry look lists every job and writes nothing", async () => {
    const before = await tree(ctx.session);
    const { plan } = await look(ctx.session, ctx.session);
    expect(plan.bring[0]?.jobs.map(({ plan: { from, to } }) => `${from} ${to}`)).toEqual([
      "Pending Pending",
      "Held Held",
      "Estimating Estimating",
      "Provisioning Provisioning",
      "Downloading Downloading",
      "Processing Downloading",
      "Storing Downloading",
      "Recording Recording",
      "Notify Notify",
      "Completed Completed",
      "Failed Failed",
      "Deleted Deleted",
    ]);
    expect(plan.bring[0]?.plan).toMatchObject({ from: "Reporting", to: "Processing", due: false });
    expect(plan.leftOut).toEqual([]);
    expect(await tree(ctx.session)).toEqual(before);
  });

  test("the queue gets what is ours, fsck finds nothing, and numbers go on behind the old ones", async () => {
    expect(await bring(ctx, ctx.session)).toEqual({ kind: "imported", batches: 1, jobs: 12 });
    expect(await findingsIn(ctx)).toEqual([]);
    expect(await initTree(ctx)).toMatchObject({ ok: true });
    const numbers = await ctx.session.get(paths.fleetIds);
    const last = Math.max(...Object.values(old.jobs).map((id) => Number(id.slice(3))));
    const next = numbers.ok ? (JSON.parse(numbers.value.data.toString()) as { batch: number; job: number }) : null;
    expect(next?.job).toBeGreaterThan(last);
    expect(next?.batch).toBeGreaterThan(Number(old.batch.slice(3)));
    expect(await readBatch(ctx.session, parseBatchId(old.batch)!)).toMatchObject({
      value: { status: { status: "Processing" }, expansion: { rows: 12, created: 12 } },
    });
  });

  test("bytes that say the right thing stay, unknown keys stay, and names outside are kept", async () => {
    const same = [`/jobs/${old.jobs["Recording"]}/identifiers`, `/jobs/${old.jobs["Recording"]}/inventory`];
    const before = await Promise.all(same.map((path) => ctx.session.get(path)));
    await bring(ctx, ctx.session);
    const after = await Promise.all(same.map((path) => ctx.session.get(path)));
    expect(after.map((node) => node.ok && node.value.data.toString())).toEqual(
      before.map((node) => node.ok && node.value.data.toString()),
    );
    const { configuration, identifiers, metadata } = await jobOf(ctx, "Pending");
    expect(configuration).toMatchObject({ retainTargetURL: true, jobID: `jid-${uuid(1)}`, submission_mode: "add" });
    expect(identifiers).toEqual({ primary_id: null, local_id: ["loc-1", "loc-2"] });
    expect(metadata).toMatchObject({ erc_what: "A title" });
    expect((await jobOf(ctx, "Storing")).identifiers).toMatchObject({
      minted_by: "ezid",
      primary_id: "ark:/99999/fk4one",
    });
  });

  test("jobs are found under their old UUIDs, and their entries go with them", async () => {
    const again = await old.cdl.createJob({
      batch: old.batch,
      configuration: oldConfiguration(5),
      status: "Completed",
    });
    await bring(ctx, ctx.session);
    const [first, second] = [old.jobs["Downloading"]!, again];
    expect(await findJobId(ctx.session, parseJobUuid(`jid-${uuid(5)}`)!)).toBe(first < second ? first : second);
    expect(await findJobId(ctx.session, parseJobUuid(`jid-${uuid(77)}`)!)).toBeNull();
    expect(await findingsIn(ctx)).toEqual([]);
    expect(await ctx.session.children(paths.jobUuids)).toMatchObject({ value: { stat: { numChildren: 12 } } });
  });

  test("the entry of an old name goes with its batch", async () => {
    const { cdl } = old;
    const batch = await cdl.createBatch({
      submission: { profile: "p", type: "file", filename: "x" },
      status: "Completed",
    });
    await cdl.createJob({ batch, configuration: oldConfiguration(40), status: "Completed" });
    await bring(ctx, ctx.session);
    const name = parseJobUuid(`jid-${uuid(40)}`)!;
    expect(await findJobId(ctx.session, name)).not.toBeNull();
    expect(await cleanUpBatch(ctx, parseBatchId(batch)!)).toEqual({ kind: "cleaned", jobs: 1 });
    expect(await ctx.session.exists(paths.importedJob(name))).toMatchObject({ value: null });
  });

  test("what was processed and not stored is stored, what was stored is not stored again", async () => {
    await bring(ctx, ctx.session);
    expect((await jobOf(ctx, "Storing")).status).toMatchObject({
      status: "Downloading",
      last_successful_status: "Provisioning",
    });
    expect((await jobOf(ctx, "Failed")).status).toMatchObject({
      status: "Failed",
      last_successful_status: "Provisioning",
    });
    expect((await jobOf(ctx, "Recording")).status).toMatchObject({
      status: "Recording",
      last_successful_status: "Processing",
    });
  });

  test("a second run brings nothing, also after our services have gone on with the jobs", async () => {
    await bring(ctx, ctx.session);
    const notifier = await testWorker(connect, "notifier");
    const loaded = await claimJob(notifier, "Notify", parseJobId(old.jobs["Notify"] ?? "")!);
    expect(loaded.job.uuid).toBe(`jid-${uuid(9)}`);
    expect(await notifier.jobs.commit(loaded, { kind: "done", changes: {} })).toMatchObject({ to: "Completed" });
    await notifier.close();
    const before = await whole(ctx);
    expect(await bring(ctx, ctx.session)).toEqual({ kind: "imported", batches: 0, jobs: 0 });
    const after = await whole(ctx);
    delete before["/fleet/holds"];
    delete after["/fleet/holds"];
    expect(after).toEqual(before);
  });

  test("a job that a crash left in two queues and two buckets, with a dead lock, ends in one of each", async () => {
    const id = old.jobs["Estimating"] ?? "";
    await old.cdl.put(`/jobs/states/pending/05-${id}`);
    await old.cdl.put(`/batches/${old.batch}/states/batch-failed/${id}`);
    await old.cdl.put(`/jobs/${id}/lock`);
    await old.cdl.put("/locks/storage/ark_99999_fk4one");
    await bring(ctx, ctx.session);
    expect(await findingsIn(ctx)).toEqual([]);
    expect(await ctx.session.exists("/locks/storage/ark_99999_fk4one")).toMatchObject({ value: null });
  });
});

describe("what cannot be brought", () => {
  test("is named with its node and its reason, and its batch stays as it is", async () => {
    const { cdl } = old;
    const half = await cdl.createBatch({
      submission: { profile: "p", type: "file", filename: "x" },
      status: "Reporting",
    });
    const job = await cdl.createJob({ batch: half, configuration: oldConfiguration(20), status: "Pending" });
    await cdl.remove(`/jobs/${job}/status`);
    const pending = await cdl.createBatch({
      submission: { batchID: `bid-${uuid(3)}`, profile: "p", type: "file", filename: "x.zip" },
      status: "Pending",
    });
    const expanding = await cdl.createBatch({
      submission: { profile: "p", type: "batchManifest" },
      status: "Processing",
    });
    await cdl.createJob({ batch: expanding, configuration: oldConfiguration(21), status: "Pending" });
    const { plan } = await look(ctx.session, ctx.session);
    expect(plan.leftOut.flatMap(({ batch, problems }) => problems.map((p) => [batch, p.path, p.why]))).toEqual([
      [half, `/jobs/${job}/status`, expect.stringContaining("not made to its end")],
      [pending, `/batches/${pending}/submission`, expect.stringContaining("x.zip is a file of the old fleet")],
      [expanding, `/batches/${expanding}/status`, expect.stringContaining("--assume-expanded")],
    ]);
    expect(await bring(ctx, ctx.session)).toMatchObject({ kind: "imported", batches: 1 });
    expect(await ctx.session.exists(`/fleet/jobs/${job}`)).toMatchObject({ value: null });
    const found = { has: (path: string) => path === `bid-${uuid(3)}/x.zip` };
    const later = await look(ctx.session, ctx.session, { files: found, assumeExpanded: true });
    expect(later.plan.bring.map(({ plan: batch }) => [batch.id, batch.to, batch.file])).toEqual([
      [pending, "Pending", { from: `bid-${uuid(3)}/x.zip`, batch: pending, name: "x.zip" }],
      [expanding, "Processing", null],
    ]);
  });

  test("nothing is brought while the old fleet holds a lock, or one of our services is registered", async () => {
    const other = await cdlWriter(connect);
    await other.put(`/jobs/${old.jobs["Notify"]}/lock`, "", true);
    const options = { inPlace: true, files: null, assumeExpanded: false, nowMs: 0 };
    expect(await lookAtOldTree(ctx.session, ctx.session, options)).toMatchObject({
      kind: "refused",
      why: expect.stringContaining(`/jobs/${old.jobs["Notify"]}/lock`),
    });
    await other.close();
    const worker = await testWorker(connect, "recorder", { name: "recorder-7" });
    expect(await lookAtOldTree(ctx.session, ctx.session, options)).toMatchObject({
      kind: "refused",
      why: expect.stringContaining("recorder-7"),
    });
    await worker.close();
  });

  test("an old service that wakes up in the middle is noticed, and the tree stays closed", async () => {
    const looked = await look(ctx.session, ctx.session);
    await old.cdl.overwrite(`/jobs/${old.jobs["Downloading"]}/status`, '{"status":"Processing"}');
    const result = await importOldTree(ctx, OPERATOR, looked, {
      from: "old",
      inPlace: true,
      bringFile: () => Promise.resolve(),
    });
    expect(result).toMatchObject({
      kind: "broken-off",
      why: expect.stringContaining("is the old fleet still at work?"),
    });
    expect(await initTree(ctx)).toMatchObject({ ok: false, problem: expect.stringContaining("/fleet/importing") });
    expect(await bring(ctx, ctx.session)).toMatchObject({ kind: "imported" });
    expect(await findingsIn(ctx)).toEqual([]);
  });
});

describe("killed after any write and run again", () => {
  test.each([2, 10])("it ends well where it stands (%d writes)", async (writes) => {
    expect(await bring(dyingAfter(ctx, writes), ctx.session)).toMatchObject({ kind: "broken-off" });
    expect(await initTree(ctx)).toMatchObject({ ok: false });
    expect(await bring(ctx, ctx.session)).toMatchObject({ kind: "imported" });
    expect(await findingsIn(ctx)).toEqual([]);
    expect((await ctx.session.children(paths.fleetJobs)) as unknown).toMatchObject({
      value: { stat: { numChildren: 12 } },
    });
  });

  test("it ends in another tree as if nothing had happened, after whichever write", async () => {
    const straight = await opened((await testZooKeeper()).connect);
    expect(await bring(straight, ctx.session)).toEqual({ kind: "imported", batches: 1, jobs: 12 });
    const expected = await whole(straight);
    expect(await findingsIn(straight)).toEqual([]);
    for (let writes = 0; writes <= 16; writes++) {
      const target = await opened((await testZooKeeper()).connect);
      const first = await bring(dyingAfter(target, writes), ctx.session);
      if (first.kind === "imported") {
        expect(writes).toBeGreaterThan(3);
        break;
      }
      expect(await initTree(target)).toMatchObject({ ok: false });
      expect(await bring(target, ctx.session)).toMatchObject({ kind: "imported" });
      expect(await whole(target)).toEqual(expected);
    }
  });
});
