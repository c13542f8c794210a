/** Each fault, planted into a real tree: fsck names exactly it, mends it, and the tree is clean by two judges. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { actOnJob, type BatchId, type JobId, paths, records, setHold } from "@sluice/queue-core";
import { advance, claimJob, tree, type TestWorker } from "@sluice/testkit";
import { createHash } from "node:crypto";
import { type Finding, type FsckOptions, type FsckReport, printReport, repair } from "../src/index.ts";
import { Bench, OLGA, short } from "./support.ts";

let bench: Bench;
let connect: string;
let intake: TestWorker;
let operator: TestWorker;
let batch: BatchId;
let jobs: readonly JobId[];

beforeEach(async () => {
  bench = await Bench.open();
  ({ connect, intake, operator, batch, jobs } = bench);
});
afterEach(() => bench.close());

const look = (options: FsckOptions = {}): Promise<FsckReport> => bench.look(options);
const create = (path: string, data?: Buffer): Promise<unknown> => bench.create(path, data);
const remove = (path: string): Promise<void> => bench.remove(path);
const write = (path: string, data: string): Promise<void> => bench.write(path, data);

/** What the tree holds but for the audit, which every repair adds to. */
const rest = () => tree(operator.session, { except: /^\/fleet\/(audit|workers)/ });

test("a tree that is well passes every rule, and the report says so in words", async () => {
  await advance(connect, jobs[0]!, "Processing");
  await actOnJob(operator.ctx, OLGA, "fail", jobs[1]!);
  await setHold(operator.ctx, OLGA, { kind: "collection", profile: "sluice_demo_content" });
  await claimJob(intake, "Pending", jobs[2]!);
  const report = await look();
  expect(report).toMatchObject({ severity: "pass", jobs: 3, batches: 1, findings: [] });
  expect(report.rules.every(({ severity }) => severity === "pass")).toBe(true);
  expect(printReport(report)).toMatch(/^PASS: 3 jobs, 1 batches looked at\nPASS I-01/);
});

test("an audit record of a newer version, which has fields that this one does not know, is no fault", async () => {
  const head = await bench.foreign.get(paths.auditHead);
  const before = head.ok ? records.auditHead.decode(head.value.data) : null;
  if (before?.ok !== true) throw new Error("no audit");
  const { number, hash } = before.value;
  const record = { number: number + 1, op: "x", at: "", actor: "olga", from: "10.0.0.1", previous: hash };
  const data = JSON.stringify({ ...record, action: "a", target: "b", reason: "c" });
  await create(paths.auditRecord(number + 1), Buffer.from(data));
  const next = { number: number + 1, hash: createHash("sha256").update(data).digest("hex") };
  await write(paths.auditHead, JSON.stringify(next));
  expect(short(await look())).toEqual([]);
});

/** [name, plant, what is found]. Mended, the tree is what it was before. */
const MENDABLE: readonly (readonly [string, () => Promise<unknown>, () => string])[] = [
  [
    "a job without a queue entry",
    () => remove(paths.queueEntry("Pending", 5, jobs[0]!)),
    () => `I-01 ${paths.jobStatus(jobs[0]!)}`,
  ],
  [
    "a job in two queues",
    () => create(paths.queueEntry("Notify", 5, jobs[0]!)),
    () => `I-01 ${paths.jobStatus(jobs[0]!)}`,
  ],
  [
    "a job in the wrong queue",
    async () => {
      await remove(paths.queueEntry("Pending", 5, jobs[0]!));
      await create(paths.queueEntry("Failed", 5, jobs[0]!));
    },
    () => `I-02 ${paths.jobStatus(jobs[0]!)}`,
  ],
  [
    "an entry with another priority",
    async () => {
      await remove(paths.queueEntry("Pending", 5, jobs[0]!));
      await create(paths.queueEntry("Pending", 44, jobs[0]!));
    },
    () => `I-03 ${paths.jobStatus(jobs[0]!)}`,
  ],
  [
    "a job in two buckets",
    () => create(paths.bucketEntry(batch, "batch-failed", jobs[0]!)),
    () => `I-04 ${paths.jobStatus(jobs[0]!)}`,
  ],
  [
    "an entry of a job that is not there",
    () => create(paths.queueEntry("Pending", 5, GHOST)),
    () => `I-07 ${paths.queueEntry("Pending", 5, GHOST)}`,
  ],
  [
    "a history of a job that is not there",
    () => create(paths.fleetJob(GHOST)),
    () => `ORPHAN ${paths.fleetJob(GHOST)}`,
  ],
  [
    "a callback of a job that is not there",
    () => create(paths.callback(GHOST, 0)),
    () => `ORPHAN ${paths.callback(GHOST, 0)}`,
  ],
  [
    "a batch that the index does not list",
    () => remove(paths.fleetBatch("Processing", batch)),
    () => `INDEX ${paths.batchStatus(batch)}`,
  ],
  [
    "a batch that is listed twice",
    () => create(paths.fleetBatch("Held", batch)),
    () => `INDEX ${paths.batchStatus(batch)}`,
  ],
  [
    "an index entry of no batch",
    () => create(paths.fleetBatch("Held", NOBATCH)),
    () => `INDEX ${paths.fleetBatch("Held", NOBATCH)}`,
  ],
  ["a due mark of no batch", () => create(paths.dueBatch(NOBATCH)), () => `ORPHAN ${paths.dueBatch(NOBATCH)}`],
  ["an expansion of no batch", () => create(paths.expansion(NOBATCH)), () => `ORPHAN ${paths.expansion(NOBATCH)}`],
  [
    "a UUID of no batch",
    () => create(`${paths.batchUuids}/bid-x`, records.bid.encode(NOBATCH)),
    () => `I-09 ${paths.batchUuids}/bid-x`,
  ],
  [
    "a batch without a bucket",
    () => remove(paths.bucket(batch, "batch-deleted")),
    () => `STATES ${paths.batchStates(batch)}`,
  ],
  ["a UUID that is gone", async () => remove(await uuidPath()), () => `I-09 ${paths.batchUuids}/`],
];
const GHOST = "jid0000000999" as JobId;
const NOBATCH = "bid0000000999" as BatchId;

async function uuidPath(): Promise<string> {
  const names = await operator.session.children(paths.batchUuids);
  return `${paths.batchUuids}/${names.ok ? (names.value.names[0] ?? "") : ""}`;
}

describe("is found alone and mended", () => {
  test.each(MENDABLE)("%s", async (_, plant, expected) => {
    const before = await rest();
    await plant();
    const report = await look();
    expect(short(report)).toEqual([expect.stringContaining(expected())]);
    expect(report.findings[0]?.repair).toBeDefined();
    expect(await repair(operator.ctx, OLGA, report.findings[0]!)).toEqual({ kind: "applied" });
    expect(await look()).toMatchObject({ severity: "pass", findings: [] });
    expect(await rest()).toEqual(before);
    expect(await repair(operator.ctx, OLGA, report.findings[0]!)).toMatchObject({ kind: "refused" });
  });

  test("a job in the wrong bucket, which its expansion's count does not show", async () => {
    await remove(paths.bucketEntry(batch, "batch-processing", jobs[0]!));
    await create(paths.bucketEntry(batch, "batch-completed", jobs[0]!));
    const report = await look();
    expect(short(report)).toEqual([`I-05 ${paths.jobStatus(jobs[0]!)}`]);
    expect(await repair(operator.ctx, OLGA, report.findings[0]!)).toEqual({ kind: "applied" });
    expect((await look()).findings).toEqual([]);
  });

  test("a lock on a job that rests, and one that no session takes away", async () => {
    await actOnJob(operator.ctx, OLGA, "hold", jobs[0]!);
    await create(paths.jobLock(jobs[0]!));
    await create(paths.jobLock(jobs[1]!));
    expect(short(await look())).toEqual([`I-21 ${paths.jobLock(jobs[0]!)}`]);
    const later = { lockMs: -60_000 };
    const report = await look(later);
    expect(short(report)).toEqual([`I-21 ${paths.jobLock(jobs[0]!)}`, `I-22 ${paths.jobLock(jobs[1]!)}`]);
    for (const finding of report.findings) {
      expect(await repair(operator.ctx, OLGA, finding, later)).toEqual({ kind: "applied" });
    }
    expect((await look(later)).findings).toEqual([]);
  });

  test("a history that is lost before any file counts", async () => {
    await remove(paths.fleetJob(jobs[0]!));
    const report = await look();
    expect(short(report)).toEqual([`I-08 ${paths.fleetJob(jobs[0]!)}`]);
    expect(await repair(operator.ctx, OLGA, report.findings[0]!)).toEqual({ kind: "applied" });
    expect((await look()).findings).toEqual([]);
    await claimJob(intake, "Pending", jobs[0]!);
  });
});

describe("is found, and left to a human who is told what to do", () => {
  const HUMAN: readonly (readonly [string, () => Promise<unknown>, () => string])[] = [
    [
      "a status that cannot be read",
      () => write(paths.jobStatus(jobs[0]!), "{"),
      () => `I-08 ${paths.jobStatus(jobs[0]!)}`,
    ],
    [
      "a password in a URL",
      () => write(paths.jobConfiguration(jobs[0]!), '{"profile_name":"p","payload_url":"http://me:secret@h/x"}'),
      () => `I-39 ${paths.jobConfiguration(jobs[0]!)}`,
    ],
    [
      "a node that is too large",
      () => write(paths.jobConfiguration(jobs[0]!), JSON.stringify({ profile_name: "p".repeat(70_000) })),
      () => `I-38 ${paths.jobConfiguration(jobs[0]!)}`,
    ],
    [
      "an expansion that counts otherwise",
      () => write(paths.expansion(batch), '{"rows":4,"created":4,"digest":"","reports":0,"op":"x"}'),
      () => `I-10 ${paths.expansion(batch)}`,
    ],
    ["a node at the top that nobody knows", () => create("/mine"), () => "NAMES /mine"],
  ];
  test.each(HUMAN)("%s", async (_, plant, expected) => {
    await plant();
    const report = await look();
    expect(short(report)).toEqual([expected()]);
    expect(report.findings[0]).toMatchObject({ human: expect.any(String) });
    expect(JSON.stringify(report)).not.toContain("secret");
    const before = await rest();
    expect(await repair(operator.ctx, OLGA, report.findings[0]!)).toMatchObject({ kind: "refused" });
    expect(await rest()).toEqual(before);
  });

  test("an audit record that was changed", async () => {
    await actOnJob(operator.ctx, OLGA, "hold", jobs[0]!);
    await actOnJob(operator.ctx, OLGA, "release", jobs[0]!);
    const node = await bench.foreign.get(paths.auditRecord(1));
    await write(paths.auditRecord(1), (node.ok ? node.value.data.toString() : "").replace("olga", "paul"));
    expect(short(await look())).toEqual([`I-37 ${paths.auditRecord(2)}`]);
  });

  test("more space in hand than there is", async () => {
    await advance(connect, jobs[0]!, "Downloading");
    await write(paths.jobSpaceNeeded(jobs[0]!), "5000");
    expect(short(await look({ spaceBytesMax: 5_000 }))).toEqual([]);
    expect(short(await look({ spaceBytesMax: 4_999 }))).toEqual([`I-36 ${paths.space}`]);
  });
});

test("what is young is a warning, what is old a failure", async () => {
  await remove(paths.queueEntry("Pending", 5, jobs[0]!));
  expect((await look()).findings).toMatchObject([{ severity: "warn" }]);
  expect((await look({ failMs: -60_000 })).findings).toMatchObject([{ severity: "fail" }]);
});

test("a repair leaves a record of who, what and why", async () => {
  await remove(paths.queueEntry("Pending", 5, jobs[0]!));
  const [finding] = (await look()).findings as readonly [Finding];
  await repair(operator.ctx, OLGA, finding);
  const record = await operator.session.get(paths.auditRecord(1));
  expect(record.ok && records.auditRecord.decode(record.value.data)).toMatchObject({
    value: { actor: "olga", action: "fsck.repair I-01", target: jobs[0], reason: "nightly fsck" },
  });
});

test("a folder of a batch that is not in the tree is a finding, unless it is young or a journal needs it", async () => {
  const now = Date.now();
  const [day, hour] = [86_400_000, 3_600_000];
  const folder = (id: string, ageMs: number, journaled = false) => ({
    path: `/queue/${id}`,
    batch: id,
    changedMs: now - ageMs,
    journaled,
  });
  const folders = [
    folder(batch, 30 * day),
    folder("bid0000000901", 30 * day),
    folder("bid0000000902", day),
    folder("bid0000000903", hour / 60),
    folder("bid0000000904", 30 * day, true),
  ];
  const report = await look({ folders: () => Promise.resolve(folders) });
  expect(report.findings.map(({ rule, path, severity }) => [rule, path, severity])).toEqual([
    ["FOLDER", "/queue/bid0000000901", "fail"],
    ["FOLDER", "/queue/bid0000000902", "warn"],
  ]);
  expect(printReport(report)).toMatch(/FAIL FOLDER \/queue\/bid0000000901: a folder of bid0000000901, which is not in/);
});
