/**
 * The fleet with Merritt's storage service in place of the OCFL store, as in production: the processor stores there, the
 * recorder records from there, into each kind of database that there is. What was stored stands in the service's own ledger.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join, normalize } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type RunningMariaDb, skipUnless, startMariaDb } from "@sluice/local-parts";
import { type BatchId, listBucket, readJobs } from "@sluice/queue-core";
import {
  type HttpServer,
  serveHttp,
  type StorageServer,
  storageServer,
  testZooKeeper,
  type TestZooKeeper,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Content, serveContent } from "../support/content.ts";
import { type Inventory, inventoryCounts, mysqlInventoryCounts } from "../support/effects.ts";
import { type Fleet, makeFleet, PROFILE, type Running } from "../support/fleet.ts";
import { OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

const OBJECTS = 4;
const mariaDb = await startMariaDb();
afterAll(async () => {
  if (!("skip" in mariaDb)) await mariaDb.stop();
});

/** The working folder, as a web server shows it to the storage service. */
const serveFolder = (folder: () => string): Promise<HttpServer> =>
  serveHttp(({ path }, response) => {
    const name = normalize(join("/", ...path.split("/").map(decodeURIComponent)));
    readFile(join(folder(), name)).then(
      (bytes) => response.end(bytes),
      () => response.writeHead(404).end(),
    );
  });

function storesAndRecords(
  inventoryEnv: () => Record<string, string>,
  recorded: (fleet: Fleet) => Inventory | Promise<Inventory>,
): void {
  let zk: TestZooKeeper;
  let fleet: Fleet;
  let content: Content;
  let storage: StorageServer;
  let access: HttpServer;
  let session: Session;
  let running: readonly Running[];

  beforeAll(async () => {
    [zk, content, storage] = await Promise.all([testZooKeeper(), serveContent(), storageServer()]);
    access = await serveFolder(() => join(fleet.dataDir, "queue"));
    const env = {
      STORAGE_URL: `merritt+${storage.url}`,
      WORKING_ACCESS_URL: access.url,
      POLL_INTERVAL_MS: "200",
      ...inventoryEnv(),
    };
    fleet = await makeFleet({ zookeeper: zk.connect, env });
    const profile = join(fleet.dataDir, "profiles", PROFILE);
    await writeFile(profile, (await readFile(profile, "utf8")).replace("StorageNode: 1", "StorageNode: 7777"));
    running = await fleet.startAll();
    session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
  });
  afterAll(async () => {
    await fleet.stop();
    await session.close();
    await Promise.all([content.close(), storage.close(), access.close()]);
  });

  const the = (service: Running["service"]): Running => running.find((each) => each.service === service)!;

  const submit = (): Promise<BatchId> =>
    fleet.submit(the("batch-intake"), {
      payload_url: content.batchManifest(OBJECTS),
      type: "single-file-batch-manifest",
    });

  async function arksOf(id: BatchId): Promise<readonly string[]> {
    const jobs = (await readJobs(session, (await listBucket(session, id, "batch-completed")) ?? [])) ?? [];
    return jobs.flatMap((job) => (job.kind === "found" ? [job.value.identifiers?.primary_id ?? ""] : [])).sort();
  }

  test("each object is stored once, and found by its local id the next time", async () => {
    const first = await submit();
    expect(await untilReported(session, first)).toBe("Completed");
    const arks = await arksOf(first);
    expect(new Set(arks).size).toBe(OBJECTS);
    const second = await submit();
    expect(await untilReported(session, second)).toBe("Completed");
    expect(await arksOf(second)).toEqual(arks);
    const stored = storage.ledger.map((line) => line.replace(/ for jid-[0-9a-f-]+$/, "")).sort();
    expect(stored).toEqual(arks.flatMap((ark) => [`add ${ark} v1`, `add ${ark} v2`]).sort());
    const both = 2 * OBJECTS;
    expect(await recorded(fleet)).toEqual({ objects: OBJECTS, versions: both, ingests: both });
  });
}

describe("with an embedded inventory", () => {
  storesAndRecords(
    () => ({}),
    ({ dataDir }) => inventoryCounts(join(dataDir, "inventory.db")),
  );
});

skipUnless(describe, mariaDb)("with an inventory in MariaDB", () => {
  const { url } = mariaDb as RunningMariaDb;
  storesAndRecords(
    () => ({ INVENTORY_URL: url }),
    () => mysqlInventoryCounts(url),
  );
});
