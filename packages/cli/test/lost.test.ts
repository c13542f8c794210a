/** Goal: after a restore, whatever was accepted since the snapshot is told, and made again so that nothing is done twice. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { openInventory, type StoredVersion } from "@sluice/inventory";
import {
  batchFolder,
  type BatchId,
  batchUuidFromKey,
  createBatch,
  makeIdBlocks,
  parseBatchUuid,
  readBatch,
  type Submission,
} from "@sluice/queue-core";
import { aSubmission, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import { listAccepted, mailMarkFile, openAcceptedBatches, printMailMark } from "@sluice/working-folder";
import { mkdir, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sluice } from "./support.ts";

let cwd: string;
let connect: string;
let worker: TestWorker;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "sluice-lost-"));
  ({ connect } = await testZooKeeper());
  worker = await testWorker(connect, "batch-intake", { register: false });
});
afterEach(async () => {
  await worker.close();
  await rm(cwd, { recursive: true, force: true });
});

/** As the intake accepts one, with a file if there is one. */
async function accept(key: string, { upload }: { readonly upload?: string } = {}): Promise<BatchId> {
  const url = upload === undefined ? `https://content.example/${key}` : `upload:${upload}`;
  const submission: Submission = { ...aSubmission(), payload_url: url, request_digest: key };
  const uuid = batchUuidFromKey("ada", key);
  const { epoch } = worker.identity;
  const created = await createBatch(worker.ctx, makeIdBlocks(worker.ctx), { uuid, submission, epoch });
  if (created.kind !== "created") throw new Error(created.kind);
  const place = { batchId: created.id, batchEpoch: epoch };
  const records = await openAcceptedBatches(join(cwd, "queue"));
  await records.put({ uuid, place, submission });
  if (upload !== undefined) {
    await mkdir(folderOf(created.id, "uploads"), { recursive: true });
    await writeFile(folderOf(created.id, "uploads", upload), key);
  }
  return created.id;
}
const folderOf = (batchId: BatchId, ...more: string[]): string =>
  join(cwd, "queue", batchFolder({ batchId, batchEpoch: worker.identity.epoch }), ...more);

const PARTS = "--working-dir queue --inventory sqlite:inventory.db";
const lost = (more = "", parts = PARTS) => sluice(`lost --zookeeper ${connect} ${parts} ${more}`, { cwd });

/** The tree is as it was when the snapshot was taken, in a later epoch. */
async function restore(): Promise<void> {
  await worker.close();
  const done = await sluice(`restore tree.gz --replace --zookeeper ${connect} --reason "a disaster" --yes`, { cwd });
  expect(done.code).toBe(0);
  worker = { ...(await testWorker(connect, "batch-intake", { register: false })), identity: worker.identity };
}

test("nothing is lost where the tree knows all; what was accepted since a snapshot is told, made again and known", async () => {
  await (await openInventory({ kind: "sqlite", file: join(cwd, "inventory.db") })).close();
  const before = await accept("before");
  const well = await lost();
  expect([well.code, well.out]).toEqual([0, ""]);
  await sluice(`snapshot tree.gz --zookeeper ${connect}`, { cwd });
  const since = await accept("since");
  const uploaded = await accept("uploaded", { upload: "a.txt" });
  const spoilt = await accept("spoilt", { upload: "b.txt" });
  await rm(folderOf(spoilt, "uploads"), { recursive: true });
  const reported = await accept("reported", { upload: "c.txt" });
  const mark = { digest: "d", subject: "OK -- done", to: ["ada@example.org"], outcome: "sent", detail: "" } as const;
  await writeFile(folderOf(reported, mailMarkFile(1)), printMailMark(mark));
  const stray = await accept("stray", { upload: "d.txt" });
  await (await openAcceptedBatches(join(cwd, "queue"))).remove(batchUuidFromKey("ada", "stray"));
  await restore();

  const told = await lost("-o json");
  expect(told.code).toBe(2);
  const { lost: batches } = JSON.parse(told.out) as { lost: Record<string, unknown>[] };
  expect(batches.map(({ batch, verdict, depositor_must_be_told: tell }) => [batch, verdict, tell])).toEqual([
    [since, "make-again", false],
    [uploaded, "make-again", false],
    [spoilt, "uploads-gone", true],
    [reported, "ended", false],
    [stray, "no-record", true],
  ]);
  expect(told.out).not.toContain("https://");
  const dry = await lost("--create --dry-run");
  expect([dry.code, dry.out]).toEqual([2, expect.stringContaining("make-again")]);
  expect((await readBatch(worker.session, since)).kind).toBe("none");

  const made = await lost('--create --reason "a disaster" --yes -o json');
  expect([made.code, JSON.parse(made.out)]).toEqual([2, { made: [since, uploaded], forgotten: [], left: [] }]);
  for (const [id, key] of [
    [before, "before"],
    [since, "since"],
    [uploaded, "uploaded"],
  ] as const) {
    const batch = await readBatch(worker.session, id);
    if (batch.kind !== "found") throw new Error(`${key}: ${batch.kind}`);
    expect(parseBatchUuid(batch.value.submission.batchID ?? "")).toBe(batchUuidFromKey("ada", key));
    expect(batch.value.submission.epoch).toBe(worker.identity.epoch);
  }
  const again = await lost('--create --reason "a disaster" --yes -o json');
  expect(JSON.parse(again.out)).toMatchObject({ lost: [{ batch: spoilt }, { batch: reported }, { batch: stray }] });

  const forgotten = await lost('--forget --reason "a disaster" --yes -o json');
  expect(JSON.parse(forgotten.out)).toEqual({ made: [], forgotten: [reported], left: [] });
  await expect(stat(folderOf(reported))).rejects.toThrow("ENOENT");
  expect(await listAccepted(join(cwd, "queue"))).not.toContain(batchUuidFromKey("ada", "reported"));
});

test("a restore that is told where to look makes them again itself, when it is allowed to", async () => {
  await sluice(`snapshot tree.gz --zookeeper ${connect}`, { cwd });
  const [since, other] = [await accept("since"), await accept("other")];
  await worker.close();
  const line = `restore tree.gz --replace --zookeeper ${connect} --working-dir queue --reason "a disaster"`;
  const no = await sluice(line, { cwd, answers: ["restore", "n"] });
  expect([no.code, no.out, no.questions.at(-1)]).toEqual([
    4,
    expect.stringContaining(since),
    expect.stringContaining("Make 2 batches again?"),
  ]);
  const yes = await sluice(`${line} --yes`, { cwd });
  expect([yes.code, yes.out]).toEqual([0, expect.stringContaining(`made again  ${other}`)]);
  worker = await testWorker(connect, "batch-intake", { register: false });
  for (const id of [since, other]) expect((await readBatch(worker.session, id)).kind).toBe("found");
});

test("what was recorded since the snapshot is told although nothing else of it is left", async () => {
  await sluice(`snapshot tree.gz --zookeeper ${connect}`, { cwd });
  await mkdir(join(cwd, "queue"));
  const inventory = await openInventory({ kind: "sqlite", file: join(cwd, "inventory.db") });
  const [known, gone] = [await accept("known"), await accept("gone")];
  await (await openAcceptedBatches(join(cwd, "queue"))).remove(batchUuidFromKey("ada", "gone"));
  for (const [n, batch] of [known, gone].entries())
    expect(await inventory.record(recorded(batch, n))).toEqual({ kind: "recorded" });
  await inventory.close();
  await restore();
  const told = await lost("--since 2026-01-01T00:00:00Z -o json");
  expect(JSON.parse(told.out)).toMatchObject({
    lost: [
      { batch: known, verdict: "make-again", reached: "recorded", recorded: 1 },
      { batch: gone, verdict: "recorded-only", recorded: 1, uuid: null },
    ],
  });
  expect(JSON.parse((await lost("--since 2027-01-01T00:00:00Z -o json")).out)).toMatchObject({
    lost: [{ batch: known }],
  });
});

const recorded = (batch: string, n: number): StoredVersion => {
  const ark = `ark:/99999/fk4${n}`;
  return {
    ark,
    number: 1,
    created: "2026-02-03T04:05:06Z",
    note: "",
    manifestUrl: `file:///store/${n}`,
    files: [],
    owner: "ark:/99999/owner",
    collections: ["ark:/99999/collection"],
    mom: { type: "MRT-curatorial", role: "MRT-content", primaryId: ark, localIds: [] },
    erc: { primaryId: ark, localIds: [] },
    ingest: { batch, job: `jid-${n}` },
    embargoEndDate: null,
    dataUse: null,
    metadata: [],
  };
};

test("one that has ended is made again when it is named, and nothing else with it", async () => {
  await sluice(`snapshot tree.gz --zookeeper ${connect}`, { cwd });
  const [reported, other] = [await accept("reported", { upload: "a.txt" }), await accept("other")];
  await writeFile(folderOf(reported, mailMarkFile(0)), "as an older version wrote it");
  await restore();
  const made = await lost(`--create --only ${reported} --reason again --yes -o json`, "--working-dir queue");
  expect(JSON.parse(made.out)).toMatchObject({ made: [reported] });
  expect((await readBatch(worker.session, other)).kind).toBe("none");
});

test("files of another fleet, folders that are not there, and wrong options are told before anything is done", async () => {
  await mkdir(join(cwd, "queue"));
  await writeFile(join(cwd, "queue/fleet.json"), JSON.stringify({ fleet: "another", epoch: 1 }));
  const foreign = await lost("--create --reason again --yes", "--working-dir queue");
  expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining("of fleet another")]);
  await writeFile(join(cwd, "file"), "");
  expect((await lost("", "--working-dir file")).code).toBe(1);
  for (const parts of [
    "",
    "--working-dir queue --inventory nonsense:",
    "--working-dir queue --inventory sqlite:none.db",
  ])
    expect((await lost("", parts)).code).toBe(64);
  expect((await lost("--since yesterday", "--working-dir queue")).code).toBe(64);
  expect((await sluice("lost --working-dir queue", { cwd })).code).toBe(64);
});
