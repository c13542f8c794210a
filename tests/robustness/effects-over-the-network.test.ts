/**
 * Goal: what the fleet does to others over the network happens once, though its processes are killed right after each
 * effect, before they can write down that it happened.
 * Method: EZID, Merritt's storage service, MariaDB, a receiver of callbacks and a mail server are real servers that keep
 * ledgers. The services die by kill -9 at the steps around their effects and are started again; then ledgers are read.
 */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { mkdtemp, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMariaDb } from "@sluice/local-parts";
import { type BatchId, listBucket, parseJobUuid, readBatch, readJobs } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  EZID_ACCOUNT,
  ezidServer,
  mailServer,
  type OwnZooKeeper,
  ownZooKeeper,
  serveHttp,
  storageServer,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Content, serveContent } from "../support/content.ts";
import { sized } from "../support/campaign.ts";
import { startDying, type Steps } from "../support/deaths.ts";
import { type Inventory, inventoryCounts, mysqlInventoryCounts } from "../support/effects.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, untilReady } from "../support/fleet.ts";
import { type FileLedger, fileLedger } from "../support/ledger.ts";
import { OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

const OBJECTS = sized({ smoke: 5, whole: 12 });
const EVERY_STEP: Steps = {
  processor: ["afterMint", "storeBegun", "midEffect", "afterPublish"],
  recorder: ["midEffect", "afterEffect"],
  notifier: ["afterEffect"],
  reporter: ["afterEffect", "beforeBatchCommit"],
};

const LAST_STEPS: Steps = {
  processor: ["afterPublish"],
  recorder: ["afterEffect"],
  notifier: ["afterEffect"],
  reporter: ["afterEffect", "beforeBatchCommit"],
};
const STEPS = sized({ smoke: LAST_STEPS, whole: EVERY_STEP });
/** Long enough for a session of a machine that is busy, and waited for after each death. */
const SESSION_MS = 4_000;

let folder: string;
let zk: OwnZooKeeper;
let session: Session;
let content: Content;
let fleet: Fleet;
let ledgers: Record<"minted" | "stored" | "called" | "mailed", FileLedger>;
let counts: () => Promise<Inventory>;
const open: { readonly close: () => Promise<void> }[] = [];

async function kept<S extends { readonly close: () => Promise<void> }>(starting: Promise<S>): Promise<S> {
  const server = await starting;
  open.push(server);
  return server;
}

/** MariaDB where it can be had, else SQLite: a file, with the same transactions. */
async function inventory(): Promise<Record<string, string>> {
  const database = await startMariaDb();
  if ("skip" in database) {
    console.log(`SQLite instead of MariaDB: ${database.skip}`);
    counts = () => Promise.resolve(inventoryCounts(join(fleet.dataDir, "inventory.db")));
    return {};
  }
  open.push({ close: () => database.stop() });
  counts = () => mysqlInventoryCounts(database.url);
  return { INVENTORY_URL: database.url };
}

const serveWorkingFolder = () =>
  serveHttp(({ path }, response) => {
    const names = path.split("/").map(decodeURIComponent);
    response.end(readFileSync(join(fleet.dataDir, "queue", ...names)));
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-ledgers-"));
  const ledger = (name: string): FileLedger => fileLedger(join(folder, name));
  ledgers = { minted: ledger("ezid"), stored: ledger("storage"), called: ledger("callbacks"), mailed: ledger("mails") };
  [zk, content] = await Promise.all([ownZooKeeper(), kept(serveContent())]);
  session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
  const ezid = await kept(ezidServer(ledgers.minted));
  const storage = await kept(storageServer(ledgers.stored));
  const access = await kept(serveWorkingFolder());
  const receiver = await kept(
    serveHttp(({ headers, body }, response) => {
      ledgers.called.push(JSON.stringify({ key: headers["idempotency-key"], body }));
      response.end();
    }),
  );
  const mail = await kept(mailServer(({ to, source }) => ledgers.mailed.push(JSON.stringify({ to, source }))));
  const env = {
    ATTEMPTS_MAX: "60",
    POLL_INTERVAL_MS: "200",
    SWEEP_INTERVAL_MS: "300",
    MINT_URL: `${ezid.url}/shoulder/ark:/99999/fk4`,
    EZID_CREDENTIALS: EZID_ACCOUNT,
    STORAGE_URL: `merritt+${storage.url}`,
    WORKING_ACCESS_URL: access.url,
    MAIL_URL: mail.url,
    ...(await inventory()),
  };
  fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url, sessionMs: SESSION_MS, env });
});
afterAll(async () => {
  await session.close();
  await fleet.stop();
  await Promise.all([zk.stop(), ...open.map((server) => server.close())]);
  await rm(folder, { recursive: true, force: true });
});

/** By key: how often it came, and the different things that came under it. */
function grouped(lines: readonly string[], keyOf: (entry: Record<string, string>) => string) {
  const groups = new Map<string, { times: number; readonly different: Set<string> }>();
  for (const line of lines) {
    const key = keyOf(JSON.parse(line) as Record<string, string>);
    const group = groups.get(key) ?? { times: 0, different: new Set() };
    groups.set(key, { times: group.times + 1, different: group.different.add(line) });
  }
  return groups;
}

async function arksOf(id: BatchId): Promise<readonly string[]> {
  const jobs = (await listBucket(session, id, "batch-completed")) ?? [];
  const views = (await readJobs(session, jobs)) ?? [];
  return views.map((view) => (view.kind === "found" ? (view.value.identifiers?.primary_id ?? "") : "")).sort();
}

async function nameOf(id: BatchId): Promise<string> {
  const batch = await readBatch(session, id);
  return batch.kind === "found" ? (batch.value.submission.batchID ?? "") : batch.kind;
}

const linesOf = (ledger: FileLedger, verb: string): readonly string[] =>
  ledger.lines().filter((line) => line.startsWith(`${verb} `));

describe("kill -9 right after each effect on others", () => {
  let id: BatchId;
  let arks: readonly string[];

  test(`${OBJECTS} objects reach their end`, async () => {
    const deaths = await startDying(fleet, PIPELINE_SERVICES, STEPS);
    const intake = deaths.first.get("batch-intake")!;
    await untilReady(intake);
    const payload = { payload_url: content.batchManifest(OBJECTS), type: "single-file-batch-manifest" };
    id = await fleet.submit(intake, payload);
    expect(await untilReported(session, id)).toBe("Completed");
    expect(await deaths.settle()).toMatchObject(STEPS);
    arks = await arksOf(id);
    expect(new Set(arks).size).toBe(OBJECTS);
  });

  test("EZID created one ARK for each, and all are public", () => {
    expect([...linesOf(ledgers.minted, "created")].sort()).toEqual(arks.map((ark) => `created ${ark} reserved`));
    expect([...new Set(linesOf(ledgers.minted, "updated"))].sort()).toEqual(arks.map((ark) => `updated ${ark} public`));
  });

  test("the storage service has one version of each", () => {
    const stored = ledgers.stored.lines().map((line) => line.replace(/ for .*/, ""));
    expect([...stored].sort()).toEqual(arks.map((ark) => `add ${ark} v1`));
  });

  test("the inventory recorded each version once", async () => {
    expect(await counts()).toEqual({ objects: OBJECTS, versions: OBJECTS, ingests: OBJECTS });
  });

  test("every callback has its key, and under one key there is one body", () => {
    const calls = grouped(ledgers.called.lines(), ({ key = "" }) => key);
    expect(calls.size).toBe(OBJECTS);
    const isName = (name = ""): boolean => parseJobUuid(name) !== null;
    expect([...calls.keys()].every((key) => isName(/^(.*)\.COMPLETED\.0$/.exec(key)?.[1]))).toBe(true);
    for (const { different } of calls.values()) expect(different.size).toBe(1);
    // It was killed between a callback and its commit, so that one at least came again.
    expect(ledgers.called.lines().length).toBeGreaterThan(OBJECTS);
  });

  test("one mail was sent: repeated byte for byte where its mark was missing, and not where only the commit was", async () => {
    const mails = grouped(ledgers.mailed.lines(), ({ source = "" }) => /^Message-ID: (.*)$/im.exec(source)?.[1] ?? "");
    expect([...mails.keys()]).toEqual([expect.stringContaining(`<${await nameOf(id)}.1@`)]);
    for (const { times, different } of mails.values()) expect([times, different.size]).toEqual([2, 1]);
  });

  test("kept every invariant at every zxid", () => {
    expect(checkInvariants({ logDir: zk.logDir, root: "/" }).violations.map(describeViolation)).toEqual([]);
  });
});
