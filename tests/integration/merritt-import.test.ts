/** A queue that CDL's libraries wrote, brought over by a command that is killed on its way, and finished by the fleet. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startChild } from "@sluice/local-parts";
import { type BatchId, listBucket, parseBatchId, paths, readBatch, readJobs } from "@sluice/queue-core";
import {
  type CdlWriter,
  cdlWriter,
  checkInvariants,
  describeViolation,
  openRawSession,
  type OwnZooKeeper,
  ownZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { inventoryCounts, mails, storedObjects } from "../support/effects.ts";
import { type Fleet, makeFleet, PROFILE } from "../support/fleet.ts";

const SLUICE = fileURLToPath(new URL("../../packages/cli/bin/sluice.mjs", import.meta.url));
const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;
/** One job of each, and as many more as it takes for the command to be killed in the middle. */
const STATES = ["Pending", "Estimating", "Provisioning", "Downloading", "Processing", "Storing"];
const MORE = 30;

let zk: OwnZooKeeper;
let old: string;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;
let cdl: CdlWriter;
let session: Session;
let files: string;

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([ownZooKeeper(), serveContent(), receiveCallbacks()]);
  old = `${zk.connect}/merritt`;
  const root = await openRawSession(zk.connect);
  for (const path of ["/merritt", "/ours"]) await root.multi([{ op: "create", path, data: Buffer.alloc(0) }]);
  await root.close();
  fleet = await makeFleet({ zookeeper: `${zk.connect}/ours`, callbackUrl: receiver.url, tree: "none" });
  files = await mkdtemp(join(tmpdir(), "sluice-old-files-"));
  cdl = await cdlWriter(old);
  session = await connectSession({ connect: `${zk.connect}/ours`, timeoutMs: 20_000 });
});
afterAll(async () => {
  await Promise.all([cdl.close(), session.close()]);
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close(), rm(files, { recursive: true, force: true })]);
});

const configurationOf = (n: number, more: Readonly<Record<string, unknown>>) => ({
  batchID: `bid-${uuid(1)}`,
  profile: PROFILE,
  type: "file",
  submitter: "old/Old Depositor",
  jobID: `jid-${uuid(n)}`,
  filename: `file-${n}.txt`,
  localID: `old-${n}`,
  title: `Title ${n}`,
  note: "kept",
  ...more,
});

/** A batch under way, and one that nobody has looked at. Uploads are where the old ingest service leaves them. */
async function plant(): Promise<{ readonly running: BatchId; readonly pending: BatchId; readonly jobs: number }> {
  const submission = {
    batchID: `bid-${uuid(1)}`,
    profile: PROFILE,
    type: "batchManifestFile",
    filename: "rows.checkm",
  };
  const running = await cdl.createBatch({ submission, status: "Reporting" });
  const states = [...STATES, ...Array.from({ length: MORE }, () => "Estimating")];
  for (const [i, status] of states.entries()) {
    const uploaded = i % 2 === 1;
    const configuration = configurationOf(i + 1, uploaded ? {} : { payload_url: content.file(i) });
    await cdl.createJob({ batch: running, configuration, status });
    if (!uploaded) continue;
    const folder = join(files, `bid-${uuid(1)}`, `jid-${uuid(i + 1)}`, "producer");
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `file-${i + 1}.txt`), `old content ${i}`);
  }
  const waiting = {
    batchID: `bid-${uuid(900)}`,
    profile: PROFILE,
    type: "file",
    filename: "alone.txt",
    localID: "alone",
  };
  const pending = await cdl.createBatch({ submission: waiting, status: "Pending" });
  await mkdir(join(files, `bid-${uuid(900)}`));
  await writeFile(join(files, `bid-${uuid(900)}`, "alone.txt"), "alone");
  return { running: parseBatchId(running)!, pending: parseBatchId(pending)!, jobs: states.length };
}

const command = (...more: readonly string[]): Promise<Awaited<ReturnType<typeof startChild>>> =>
  startChild({
    command: process.execPath,
    args: [
      SLUICE,
      "import",
      ...["--zookeeper", `${zk.connect}/ours`, "--from", old, "--old-files", files],
      ...["--working-dir", join(fleet.dataDir, "queue"), ...more],
    ],
    cwd: tmpdir(),
    logFile: join(fleet.dataDir, "logs", "import.log"),
    env: process.env,
  });

/** Why its jobs failed, once it has reported. */
async function reported(id: BatchId): Promise<readonly string[]> {
  await waitFor(
    async () => {
      const view = await readBatch(session, id);
      return view.kind === "found" && ["Completed", "Failed"].includes(view.value.status.status);
    },
    { what: `report of ${id}` },
  );
  const failed = (await readJobs(session, (await listBucket(session, id, "batch-failed")) ?? [])) ?? [];
  return failed.map((job) => (job.kind === "found" ? job.value.status.message : job.kind));
}

test("is brought once although the command is killed, and every deposit ends stored, recorded and told", async () => {
  const { running, pending, jobs } = await plant();
  const dry = await command("--dry-run");
  expect(await dry.exited).toMatch(/code 0/);
  const said = await readFile(join(fleet.dataDir, "logs", "import.log"), "utf8");
  expect(said).toContain("Storing becomes Downloading");
  expect(await session.exists(paths.fleet)).toMatchObject({ value: null });

  const first = await command("--yes", "--reason", "a test");
  await waitFor(
    async () => (await session.exists(paths.importing)).ok && (await session.children(paths.fleetJobs)).ok,
    {
      what: "the import has begun",
    },
  );
  await first.kill("SIGKILL");
  const second = await command("--yes", "--reason", "a test");
  expect(await second.exited).toMatch(/code 0/);

  await fleet.startAll();
  expect(await reported(running)).toEqual([]);
  expect(await reported(pending)).toEqual([]);
  expect(await listBucket(session, running, "batch-completed")).toHaveLength(jobs);
  expect(await storedObjects(join(fleet.dataDir, "store"))).toHaveLength(jobs + 1);
  expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toMatchObject({ objects: jobs + 1, versions: jobs + 1 });
  expect(new Set(receiver.keys).size).toBe(jobs + 1);
  expect(await mails(fleet.dataDir)).toEqual([`${running}.1.eml`, `${pending}.1.eml`]);
  const { violations } = checkInvariants({ logDir: zk.logDir, root: "/ours" });
  expect(violations.map(describeViolation)).toEqual([]);
});
