import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createEgress, type Egress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { merrittStore } from "../src/store/merritt/merritt-store.ts";
import { workingUrl } from "../src/store/working-url.ts";
import { COLLECTION, Laboratory, PROFILE, profilesOf } from "./support/deposit.ts";
import { serveHttp, type StorageServer, storageServer, TROUBLES } from "@sluice/testkit";
import { closedAfterTest } from "./support/closed-after-test.ts";
import { changesOf, objectOf } from "./support/stored-version.ts";
import { tempFolder } from "./support/temp-folder.ts";

const ARK = "ark:/99999/fk4given";
const HELLO = objectOf({ "héllo wörld+100%.txt": "hello", "b/c.txt": "c" }, { identifiers: { primary_id: ARK } });

let egress: Egress;
let storage: StorageServer;
beforeEach(async () => {
  egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, totalTimeoutMs: 2_000 });
  storage = await closedAfterTest(storageServer());
});
afterEach(() => egress.close());

/** A processor whose working folder is served to the storage service. */
async function laboratoryWith(base = storage.url, profile = `${PROFILE}StorageNode: 7777\n`): Promise<Laboratory> {
  const served = { folder: tempFolder() };
  const access = await closedAfterTest(
    serveHttp(({ path }, response) => {
      response.end(readFileSync(join(served.folder, ...path.split("/").map(decodeURIComponent))));
    }),
  );
  const urlOf = (path: string): string => workingUrl(served.folder, access.url)(path);
  const laboratory = await Laboratory.open({
    store: merrittStore({ base, egress, urlOf }),
    urlOf,
    profiles: profilesOf(profile),
  });
  served.folder = join(laboratory.root, "work");
  return laboratory;
}

const jobOf = (laboratory: Laboratory, deposit = HELLO) => laboratory.job(deposit);
const entry = (uuid: string, call = "add", version = 1): string => `${call} ${ARK} v${version} for ${uuid}`;

describe("Merritt's storage service", () => {
  test("fetches the files, stores them as a version, and is believed when it has all of them", async () => {
    const job = jobOf(await laboratoryWith());
    const attempt = await job.run();
    expect(changesOf(attempt).inventory).toEqual({
      manifest_url: `${storage.url}/manifest/7777/${encodeURIComponent(ARK)}`,
      mode: "add",
      version: 1,
    });
    expect(storage.ledger).toEqual([entry(job.job.uuid)]);
    expect([...storage.objects.get(ARK)![0]!.keys()].filter((path) => path.startsWith("producer/")).sort()).toEqual([
      "producer/b/c.txt",
      "producer/héllo wörld+100%.txt",
    ]);
  });

  test("is told what an update deletes, and its 400 fails the job", async () => {
    const laboratory = await laboratoryWith();
    await jobOf(laboratory).run();
    const update = (list: string, number: number) => {
      const files = { "d.txt": "d", "mrt-delete.txt": list };
      return laboratory.job({
        ...objectOf(files, { configuration: { submission_mode: "update" } }),
        number,
        identifiers: { primary_id: ARK },
      });
    };
    expect(await update("nothing.txt", 2).run()).toMatchObject({ kind: "fail", code: "STORE_FAILED" });
    expect(changesOf(await update("b/c.txt", 3).run()).inventory).toMatchObject({ mode: "update" });
    expect([...storage.objects.get(ARK)![1]!.keys()]).not.toContain("producer/b/c.txt");
    expect(storage.ledger).toHaveLength(2);
  });

  test.each(["hangUp", "error500"] as const)(
    "stores and does not say so (%s): the version is found to be ours, and made once",
    async (trouble) => {
      const job = jobOf(await laboratoryWith());
      storage.after.push(TROUBLES[trouble]);
      expect(await job.run()).toMatchObject({ kind: "done" });
      expect(await job.run()).toMatchObject({ kind: "done" });
      expect(storage.ledger).toEqual([entry(job.job.uuid)]);
    },
  );

  test.each([
    ["is busy (409)", 409],
    ["is broken (500)", 500],
  ])("%s: the job is tried later, and stored once", async (_what, status) => {
    const job = jobOf(await laboratoryWith());
    storage.before.push((response) => void response.writeHead(status).end("no"));
    expect(await job.run()).toMatchObject({ kind: "retry", code: "STORE_FAILED" });
    expect(await job.run()).toMatchObject({ kind: "done" });
    expect(storage.ledger).toEqual([entry(job.job.uuid)]);
  });

  test("is down: the job is tried later", async () => {
    const job = jobOf(await laboratoryWith("http://127.0.0.1:1/store"));
    expect(await job.run()).toMatchObject({ kind: "retry", code: "STORE_FAILED" });
  });

  test("says yes and has nothing: the job is tried later", async () => {
    const job = jobOf(await laboratoryWith());
    storage.before.push((response) => void response.writeHead(200).end("{}"));
    expect(await job.run()).toMatchObject({ kind: "retry", message: expect.stringContaining("has not") });
  });

  test("has other bytes than we: the job fails", async () => {
    storage.damaged = true;
    const attempt = await jobOf(await laboratoryWith()).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "STORE_FAILED", message: expect.stringContaining("another") });
  });

  test("is not asked for what it cannot take: names it would spell otherwise, a profile without a node", async () => {
    const strange = jobOf(await laboratoryWith(), { files: { "a|b.txt": "x" } });
    expect(await strange.run()).toMatchObject({ kind: "fail", code: "STORE_FAILED" });
    const nowhere = jobOf(await laboratoryWith(storage.url, PROFILE));
    expect(await nowhere.run()).toMatchObject({ kind: "fail", message: expect.stringContaining("StorageNode") });
    expect(storage.received.filter(({ method }) => method !== "GET")).toEqual([]);
  });
});

test("killed at any step, a job stores one version", async () => {
  const rehearsal = await laboratoryWith();
  await jobOf(rehearsal).run();
  const steps = [...rehearsal.steps];
  expect(steps).toEqual(expect.arrayContaining(["beforeEffect", "storeBegun", "midEffect", "afterEffect"]));
  for (const [index, step] of steps.entries()) {
    storage.ledger.length = 0;
    storage.objects.clear();
    const job = jobOf(await laboratoryWith());
    expect(await job.run(index + 1)).toEqual({ kind: "crash", at: step });
    expect(await job.run()).toMatchObject({ kind: "done" });
    expect(storage.ledger).toEqual([entry(job.job.uuid)]);
  }
});

describe("an object of another collection", () => {
  const EVE = PROFILE.replace(/Collection.1: .*/, "Collection.1: ark:/99999/fk4evil") + "StorageNode: 7777\n";
  const MISMATCH = { kind: "fail", code: "COLLECTION_MISMATCH" };

  async function withHers(): Promise<string> {
    const hers = jobOf(await laboratoryWith());
    expect(await hers.run()).toMatchObject({ kind: "done" });
    return entry(hers.job.uuid);
  }
  const evesDeposit = { ...HELLO, number: 2 };

  test.each(["add", "update"])("is not touched by an %s: the service says whose it is", async (submission_mode) => {
    const ledger = [await withHers()];
    const configuration = { ...HELLO.configuration, submission_mode };
    const eve = jobOf(await laboratoryWith(storage.url, EVE), { ...evesDeposit, configuration });
    expect(await eve.run()).toMatchObject(MISMATCH);
    expect(storage.ledger).toEqual(ledger);
  });

  test("that came after the look is not touched either", async () => {
    const laboratory = await laboratoryWith(storage.url, EVE);
    const eve = jobOf(laboratory, evesDeposit);
    const ledger: string[] = [];
    laboratory.onStep = async (step) => {
      if (step === "beforeEffect") ledger.push(await withHers());
    };
    expect(await eve.run()).toMatchObject(MISMATCH);
    expect(storage.ledger).toEqual(ledger);
    expect(ledger).toHaveLength(1);
  });

  test("is waited for while the service does not say whose it is, or says something else than it has", async () => {
    await withHers();
    const files = storage.objects.get(ARK)![0]!;
    const owner = files.get("system/mrt-owner.txt")!;
    files.set("system/mrt-owner.txt", { ...owner, bytes: Buffer.from("ark:/99999/fk4other") });
    const again = jobOf(await laboratoryWith(), evesDeposit);
    expect(await again.run()).toMatchObject({ kind: "retry", code: "STORE_FAILED" });
    files.delete("system/mrt-owner.txt");
    expect(await again.run()).toMatchObject(MISMATCH);
    files.set("system/mrt-owner.txt", owner);
    expect(await again.run()).toMatchObject({ kind: "done" });
  });

  test("may be updated by a profile that names its collection, and gets no other", async () => {
    await withHers();
    const further = await laboratoryWith(storage.url, `${EVE}UpdatesCollection.1: ${COLLECTION}\n`);
    const job = jobOf(further, {
      ...evesDeposit,
      configuration: { ...HELLO.configuration, submission_mode: "update" },
    });
    expect(await job.run()).toMatchObject({ kind: "done" });
    expect(await job.run()).toMatchObject({ kind: "done" });
    expect(storage.objects.get(ARK)).toHaveLength(2);
    expect(storage.objects.get(ARK)![1]!.get("system/mrt-membership.txt")!.bytes.toString()).toBe(`${COLLECTION}\n`);
  });
});
