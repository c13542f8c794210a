import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { hasValidCheckCharacter, parseErc, parseIngestFile, parseMom } from "@sluice/ingest-formats";
import { COLLECTION, type Deposit, Laboratory, OWNER } from "./support/deposit.ts";
import { write } from "./support/hand-made-object.ts";
import { changesOf, objectManifest, storedVersion } from "./support/stored-version.ts";
import { validateRoot } from "./support/ocfl-validator/root-rules.ts";

const HELLO: Deposit = { files: { "hello.txt": "hello" } };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

const manifestRowsOf = (text: string): string[][] =>
  text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(" | "));

describe("processing a single file", () => {
  test("mints an ARK, stores the file with Merritt's system files, and says where", async () => {
    const laboratory = await Laboratory.open();
    const job = laboratory.job({
      ...HELLO,
      metadata: { erc_who: "Ann", erc_what: "Hello", erc_when: "2026" } as never,
    });
    const attempt = await job.run();
    const changes = changesOf(attempt);
    const ark = changes.identifiers!.primary_id!;
    expect(laboratory.minter.minted).toEqual([ark]);
    expect(ark).toMatch(/^ark:\/99999\/fk4[0-9a-z]{13}$/);
    expect(hasValidCheckCharacter(ark)).toBe(true);
    expect(changes.inventory!.mode).toBe("add");
    expect(changes.metadata).toMatchObject({ erc_who: "Ann", erc_what: "Hello", erc_when: "2026", erc_where: ark });
    const report = validateRoot(laboratory.store);
    expect(report.errors).toEqual([]);
    expect([...report.objects.keys()]).toEqual([ark]);
    expect(storedVersion(attempt).paths).toEqual([
      "producer/hello.txt",
      "system/mrt-dc.xml",
      "system/mrt-erc.txt",
      "system/mrt-ingest.txt",
      "system/mrt-manifest.txt",
      "system/mrt-membership.txt",
      "system/mrt-mom.txt",
      "system/mrt-owner.txt",
    ]);
  });

  test("that is made again after a disaster, of which its queue knows nothing, finds its ARK and its version", async () => {
    const laboratory = await Laboratory.open();
    const first = changesOf(await laboratory.job(HELLO).run());
    const lost = laboratory.job(HELLO);
    expect(lost.job.identifiers).toBeNull();
    const again = changesOf(await lost.run());
    expect(again.identifiers).toEqual(first.identifiers);
    expect(again.inventory).toEqual(first.inventory);
    expect(laboratory.minter.minted).toEqual([first.identifiers!.primary_id]);
    expect([...validateRoot(laboratory.store).objects.keys()]).toEqual([first.identifiers!.primary_id]);
    // Another job with the same content is another object.
    const other = changesOf(await laboratory.job({ ...HELLO, number: 2 }).run());
    expect(other.identifiers!.primary_id).not.toBe(first.identifiers!.primary_id);
  });

  test("writes system files that say who, what, when, where and to whom it belongs", async () => {
    const laboratory = await Laboratory.open();
    const job = laboratory.job({
      ...HELLO,
      identifiers: { local_id: ["shelf 7", "box 3"] },
      metadata: { erc_who: "Ann & Bob", erc_what: "Hello", erc_when: undefined, erc_where: undefined },
    });
    const attempt = await job.run();
    const { text } = storedVersion(attempt);
    const ark = changesOf(attempt).identifiers!.primary_id!;
    expect(parseErc(text("system/mrt-erc.txt"))).toEqual({
      ok: true,
      value: { who: "Ann & Bob", what: "Hello", primaryId: ark, localIds: ["shelf 7", "box 3"] },
    });
    expect(parseMom(text("system/mrt-mom.txt"))).toMatchObject({
      value: { type: "MRT-curatorial", role: "MRT-content", primaryId: ark, localIds: ["shelf 7", "box 3"] },
    });
    expect(text("system/mrt-owner.txt")).toBe(OWNER);
    expect(text("system/mrt-membership.txt")).toBe(`${COLLECTION}\n`);
    expect(text("system/mrt-dc.xml")).toContain("<dc:creator>Ann &amp; Bob</dc:creator>");
    expect(text("system/mrt-dc.xml")).toContain("<dc:identifier>shelf 7</dc:identifier>");
    expect(parseIngestFile(text("system/mrt-ingest.txt"))).toEqual({
      ok: true,
      value: {
        ingest: "Sluice",
        submissionDate: "2026-02-01T00:00:00Z",
        batch: job.job.batchId,
        job: job.job.uuid,
        userAgent: "Ann <ann@example.org>",
        file: "hello.txt",
        type: "file",
        profile: "library_content",
        collection: COLLECTION,
        storageService: `file://${laboratory.store}`,
        notification: "ann@example.org",
        creator: "Ann & Bob",
        title: "Hello",
        localIdentifier: "shelf 7;box 3",
        assignedIdentifier: ark,
      },
    });
  });

  test("writes a storage manifest of every file but itself", async () => {
    const laboratory = await Laboratory.open();
    const { text, paths } = storedVersion(await laboratory.job(HELLO).run());
    const rows = manifestRowsOf(text("system/mrt-manifest.txt"));
    expect(rows.map((row) => row[5]).sort()).toEqual(paths.filter((path) => path !== "system/mrt-manifest.txt"));
    const [url, ...cells] = rows[0]!;
    expect(url).toMatch(/^file:.*\/producer\/hello\.txt$/);
    expect(cells.toSpliced(3, 1)).toEqual(["sha256", sha256("hello"), "5", "producer/hello.txt", "text/plain"]);
  });

  test("uses the ARK that was given, in the form that Merritt writes", async () => {
    const laboratory = await Laboratory.open();
    const job = laboratory.job({ ...HELLO, identifiers: { primary_id: "ark:99999/fk4given" } });
    const attempt = await job.run();
    expect(changesOf(attempt).identifiers).toEqual({ primary_id: "ark:/99999/fk4given", local_id: [] });
    expect(laboratory.minter.minted).toEqual([]);
    expect(laboratory.locked).toEqual(["storage ark:/99999/fk4given"]);
  });

  test("refuses a primary identifier that is no ARK", async () => {
    const laboratory = await Laboratory.open();
    const attempt = await laboratory.job({ ...HELLO, identifiers: { primary_id: "doi:10.5072/x" } }).run();
    expect(attempt).toMatchObject({ kind: "fail", code: "IDENTIFIER_CONFLICT" });
  });

  test("takes the locks of its local ids before that of its object", async () => {
    const laboratory = await Laboratory.open();
    const job = laboratory.job({ ...HELLO, identifiers: { primary_id: "ark:/99999/fk4given", local_id: ["b", "a"] } });
    await job.run();
    expect(laboratory.locked).toEqual([`localid b ${OWNER}`, `localid a ${OWNER}`, "storage ark:/99999/fk4given"]);
  });

  test.each([
    ["its local id", `localid a ${OWNER}`],
    ["its object", "storage ark:/99999/fk4given"],
  ])("waits while another job holds %s, with nothing stored", async (_what, lock) => {
    const laboratory = await Laboratory.open();
    laboratory.busy.add(lock);
    const job = laboratory.job({ ...HELLO, identifiers: { primary_id: "ark:/99999/fk4given", local_id: ["a"] } });
    expect(await job.run()).toMatchObject({ kind: "snooze", delayMs: 1_000 });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
    laboratory.busy.clear();
    expect(await job.run()).toMatchObject({ kind: "done" });
  });

  test("stores nothing under an ARK that it could not write down", async () => {
    const laboratory = await Laboratory.open();
    const job = laboratory.job(HELLO);
    job.stillOurs = false;
    expect(await job.run()).toMatchObject({ kind: "snooze", why: "the job is no longer ours" });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
  });

  test("an update makes the next version and keeps the other files", async () => {
    const laboratory = await Laboratory.open();
    const identifiers = { primary_id: "ark:/99999/fk4given" };
    await laboratory.job({ ...HELLO, identifiers }).run();
    const update = {
      files: { "more.txt": "more" },
      identifiers,
      configuration: { submission_mode: "update" },
      number: 2,
    };
    const attempt = await laboratory.job(update).run();
    expect(changesOf(attempt).inventory).toMatchObject({
      mode: "update",
      manifest_url: expect.stringContaining("/v2/"),
    });
    expect(storedVersion(attempt).paths).toEqual(expect.arrayContaining(["producer/hello.txt", "producer/more.txt"]));
    expect(validateRoot(laboratory.store).errors).toEqual([]);
  });
});

describe("processing an object manifest", () => {
  const row = (name: string, text: string): string =>
    `http://content.example.org/${name} | SHA-256 | ${sha256(text).toUpperCase()} | ${text.length} | | ${name} | text/plain`;
  const deposit: Deposit = {
    files: { "a.txt": "aaa", "b/c.txt": "ccc" },
    manifest: objectManifest([row("a.txt", "aaa"), row("b/c.txt", "ccc")]),
    configuration: { payload_type: "manifest" },
  };

  test("stores its files under their names, and the manifest itself", async () => {
    const laboratory = await Laboratory.open();
    const stored = storedVersion(await laboratory.job(deposit).run());
    expect(stored.paths).toEqual(expect.arrayContaining(["producer/a.txt", "producer/b/c.txt"]));
    expect(stored.text("system/mrt-submission-manifest.txt")).toBe(deposit.manifest);
  });

  test.each<[string, string, (producer: string) => void]>([
    ["DIGEST_MISMATCH", "changed", (producer) => write(join(producer, "b/c.txt"), "cCc")],
    ["SIZE_MISMATCH", "grown", (producer) => write(join(producer, "b/c.txt"), "cccc")],
    ["FILES_MISSING", "gone", (producer) => rmSync(join(producer, "b/c.txt"))],
    ["FILES_MISSING", "joined by another", (producer) => write(join(producer, "b/d.txt"), "d")],
  ])("fails with %s when a file is %s after the download", async (code, _what, spoil) => {
    const laboratory = await Laboratory.open();
    const { job, run } = bound(laboratory, deposit);
    spoil(join(laboratory.root, "work", job.batchId, job.id, ".claim-5/producer"));
    expect(await run()).toMatchObject({ kind: "fail", code });
    expect(validateRoot(laboratory.store).objects.size).toBe(0);
    expect(laboratory.minter.minted).toEqual([]);
  });
});

function bound(laboratory: Laboratory, deposit: Deposit) {
  const inHand = laboratory.job(deposit);
  return { job: inHand.job, run: () => inHand.run() };
}

describe("what a processor cannot do", () => {
  test("is said with the code of the cause", async () => {
    const laboratory = await Laboratory.open();
    const run = (deposit: Partial<Deposit>) => laboratory.job({ ...HELLO, ...deposit }).run();
    expect(await run({ configuration: { profile_name: "nobodys_content" } })).toMatchObject({
      code: "PROFILE_UNKNOWN",
    });
    expect(await run({ configuration: { payload_type: "batch-manifest" } })).toMatchObject({
      code: "UNSUPPORTED_TYPE",
    });
    const missing = laboratory.job({ ...HELLO, number: 3 });
    rmSync(join(laboratory.root, "work", missing.job.batchId, missing.job.id), { recursive: true });
    expect(await missing.run()).toMatchObject({ kind: "fail", code: "FILES_MISSING" });
  });

  test("a store that fails in passing is tried again, one that refuses is not", async () => {
    const broken = (kind: "refused" | "unavailable") =>
      Laboratory.open({
        store: {
          name: "x",
          put: () => Promise.resolve({ kind, message: "no" }),
          holds: () => Promise.resolve({ kind: "absent" }),
          look: () => Promise.resolve({ kind: "absent" }),
        },
      });
    const passing = (await broken("unavailable")).job(HELLO);
    expect(await passing.run()).toMatchObject({ kind: "retry", code: "STORE_FAILED" });
    const final = (await broken("refused")).job(HELLO);
    expect(await final.run()).toMatchObject({ kind: "fail", code: "STORE_FAILED" });
  });
});

describe("a processor that is killed", () => {
  test("at any step: the next run ends with one ARK, one version and a valid store", async () => {
    const rehearsal = await Laboratory.open();
    await rehearsal.job(HELLO).run();
    const steps = [...rehearsal.steps];
    expect(steps).toEqual(
      expect.arrayContaining([
        "afterMint",
        "afterIdentify",
        "beforeEffect",
        "midEffect",
        "afterEffect",
        "afterPublish",
      ]),
    );
    for (const [index, step] of steps.entries()) {
      const laboratory = await Laboratory.open();
      const job = laboratory.job(HELLO);
      expect(await job.run(index + 1)).toEqual({ kind: "crash", at: step });
      const changes = changesOf(await job.run());
      const report = validateRoot(laboratory.store);
      expect(report).toMatchObject({ errors: [], warnings: [] });
      expect([...report.objects.keys()]).toEqual([changes.identifiers!.primary_id]);
      expect(laboratory.minter.minted).toHaveLength(1);
      expect(changes.inventory!.manifest_url).toContain("/v1/");
      expect(job.records).toHaveLength(1);
    }
  });

  test("after everything: the next run gives the same answer", async () => {
    const laboratory = await Laboratory.open();
    const job = laboratory.job({ ...HELLO, identifiers: { local_id: ["shelf 7"] } });
    const first = await job.run();
    expect(await job.run()).toEqual(first);
    expect(readdirSync(join(laboratory.store, "extensions/sluice-staging"))).toEqual(["config.json"]);
  });
});
