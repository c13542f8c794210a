/** Versions that Merritt's storage service holds, read over HTTP and recorded in the databases that there are. */
import { afterAll, afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type Inventory, openInventory, parseInventoryUrl } from "@sluice/inventory";
import { skipUnless, startMariaDb } from "@sluice/local-parts";
import { createEgress, type Egress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { type StorageServer, storageServer } from "@sluice/testkit";
import { merrittReader } from "../src/stored/merritt-reader.ts";
import { addMerrittVersion, type MerrittDeposit, sha256 } from "./support/merritt-object.ts";
import { Office } from "./support/recording.ts";
import { ARK, OWNER } from "./support/stored-object.ts";

let office: Office;
let storage: StorageServer;
let egress: Egress;
beforeEach(async () => {
  storage = await storageServer();
  egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, totalTimeoutMs: 2_000 });
  office = new Office();
  office.reader = merrittReader({ base: storage.url, egress });
});
afterEach(async () => {
  await office.close();
  await Promise.all([egress.close(), storage.close()]);
});

const MANIFEST_URL = () => `${storage.url}/manifest/7777/${encodeURIComponent(ARK)}`;
const done = { kind: "done", changes: {} };

const addVersion = (deposit: MerrittDeposit): void => addMerrittVersion(storage, deposit);

const ofJob = (number: number) => ({ number, manifestUrl: MANIFEST_URL() });

describe("a version in Merritt's storage service", () => {
  test("is recorded with sizes, types, digests, and what is billed for it", async () => {
    addVersion({ files: { "producer/héllo 100%.txt": "hello" }, localIds: ["shelf 7"] });
    addVersion({ files: { "producer/more.txt": "more!" }, job: 2, localIds: ["shelf 7"] });
    expect(await office.record(ofJob(2))).toEqual(done);
    expect(await office.record(ofJob(1))).toEqual(done);
    const columns = "number, pathname, full_size, billable_size, mime_type, digest_type, digest_value";
    expect(
      office.rows(
        `select ${columns} from inv_files f join inv_versions v on v.id = f.inv_version_id where source = 'producer' order by number, pathname`,
      ),
    ).toEqual(
      (
        [
          [1, "producer/héllo 100%.txt", "hello", 5],
          [2, "producer/héllo 100%.txt", "hello", 0],
          [2, "producer/more.txt", "more!", 5],
        ] as const
      ).map(([number, pathname, text, billable_size]) => ({
        number,
        pathname,
        full_size: 5,
        billable_size,
        mime_type: "text/x-test",
        digest_type: "sha-256",
        digest_value: sha256(Buffer.from(text)),
      })),
    );
    expect(office.rows("select number, created from inv_versions order by number")).toEqual([
      { number: 1, created: "2026-02-01T03:04:05Z" },
      { number: 2, created: "2026-02-02T03:04:05Z" },
    ]);
    expect(office.rows("select job_id, storage_url from inv_ingests order by id")).toEqual([
      { job_id: expect.stringMatching(/^jid-00000002-/), storage_url: MANIFEST_URL() },
      { job_id: expect.stringMatching(/^jid-00000001-/), storage_url: MANIFEST_URL() },
    ]);
    expect(office.counts()).toMatchObject({ objects: 1, localids: 1 });
  });

  test("is recorded once, however often", async () => {
    addVersion({ files: { "producer/a.txt": "a" } });
    await office.record(ofJob(1));
    const before = office.counts();
    expect(await office.record(ofJob(1))).toEqual(done);
    expect(office.counts()).toEqual(before);
  });

  test("that no job of ours stored is refused", async () => {
    addVersion({ files: { "producer/a.txt": "a" } });
    expect(await office.record(ofJob(9))).toMatchObject({ kind: "fail", code: "RECORD_FAILED" });
    expect(office.counts()).toMatchObject({ objects: 0 });
  });

  test.each([
    ["of another store", (url: string) => url.replace("127.0.0.1", "127.0.0.2")],
    ["of another call", (url: string) => url.replace("/manifest/", "/content/")],
    ["with more behind it", (url: string) => `${url}/../../../admin`],
    ["of a file", () => "file:///etc/passwd"],
  ])("is not read from an address %s", async (_what, spoil) => {
    addVersion({ files: { "producer/a.txt": "a" } });
    const attempt = await office.record({ number: 1, manifestUrl: spoil(MANIFEST_URL()) });
    expect(attempt).toMatchObject({ kind: "fail", code: "RECORD_FAILED" });
    expect(storage.received).toEqual([]);
  });

  test("is tried again while it is not there, or comes wrong", async () => {
    const again = { kind: "retry", code: "RECORD_FAILED" };
    expect(await office.record(ofJob(1))).toMatchObject(again);
    addVersion({ files: { "producer/a.txt": "a" } });
    const files = storage.objects.get(ARK)![0]!;
    const owner = files.get("system/mrt-owner.txt")!;
    files.set("system/mrt-owner.txt", { ...owner, bytes: Buffer.from("ark:/99999/fk4thief") });
    expect(await office.record(ofJob(1))).toMatchObject(again);
    files.set("system/mrt-owner.txt", owner);
    expect(await office.record(ofJob(1))).toEqual(done);
  });

  test("without a system file is refused", async () => {
    addVersion({ files: { "producer/a.txt": "a" } });
    storage.objects.get(ARK)![0]!.delete("system/mrt-mom.txt");
    const message = expect.stringContaining("mrt-mom.txt");
    expect(await office.record(ofJob(1))).toMatchObject({ kind: "fail", message });
  });
});

const mariaDb = await startMariaDb();
afterAll(async () => {
  if (!("skip" in mariaDb)) await mariaDb.stop();
});

skipUnless(describe, mariaDb)("in MariaDB", () => {
  test("it is recorded the same way", async () => {
    const { url } = mariaDb as Exclude<typeof mariaDb, { skip: string }>;
    const inventory: Inventory = await openInventory(parseInventoryUrl(url)!);
    office.useInventory(inventory);
    addVersion({ files: { "producer/a.txt": "a" }, localIds: ["shelf 7"] });
    expect(await office.record(ofJob(1))).toEqual(done);
    expect(await office.record(ofJob(1))).toEqual(done);
    // Recorded, not only answered: names and version are taken from here on.
    expect(await inventory.findLocalIds(OWNER, ["shelf 7"])).toEqual({ kind: "found", ark: ARK });
    addVersion({ files: { "producer/b.txt": "b" }, job: 2 });
    storage.objects.get(ARK)!.shift();
    expect(await office.record(ofJob(2))).toMatchObject({ kind: "fail", code: "RECORD_FAILED" });
  });
});
