import type { Profile } from "@sluice/ingest-formats";
import { createHash } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Expansion, JobSpec, LoadedBatch } from "@sluice/queue-core";
import { createEgress } from "@sluice/safe-io";
import type { BatchContext } from "@sluice/stage-runtime";
import { openWorkingFolder } from "@sluice/working-folder";
import { type ExpandBatchPorts, expandBatchStage } from "../src/duties/expand-batch.ts";
import { openPayloads } from "../src/files/payloads.ts";
import {
  batch,
  batchContext,
  batchManifest,
  BID,
  fileBatchManifest,
  makeCleanups,
  PROFILE,
  profileOf,
  submission,
  temporaryFolder,
  WITHOUT_QUOTAS,
} from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const row = (number: number): string =>
  `http://content.example/${number}.txt | md5 | ${"0".repeat(32)} | ${number} | | ${number}.txt | | local-${number} | Ada | Title ${number} | 1843`;
const manifestOf = (rows: number): string => fileBatchManifest(Array.from({ length: rows }, (_, i) => row(i + 1)));
const expansionOf = (manifest: string, rows: number, created = 0): Expansion => ({
  rows,
  created,
  digest: createHash("sha256").update(manifest).digest("hex"),
  reports: 0,
  op: "op",
});

/** Takes every chunk and moves the cursor, as queue-core does; remembers the jobs. */
function acceptingJobs(given: Partial<BatchContext> = {}) {
  const jobs: JobSpec[] = [];
  const chunks: number[] = [];
  const addJobs: BatchContext["addJobs"] = (loaded, specs) => {
    jobs.push(...specs);
    chunks.push(specs.length);
    const { expansion } = loaded.batch;
    const moved = expansion === null ? null : { ...expansion, created: expansion.created + specs.length };
    const next: LoadedBatch = { ...loaded, batch: { ...loaded.batch, expansion: moved } };
    return Promise.resolve({ kind: "added", loaded: next });
  };
  return { jobs, chunks, given: { addJobs, ...given } };
}

async function setup(
  manifest: string | null,
  rules: Partial<Profile> = {},
  quotas: ExpandBatchPorts["quotas"] = WITHOUT_QUOTAS,
) {
  const root = await temporaryFolder(cleanups);
  if (manifest !== null) {
    await mkdir(join(root, BID), { recursive: true });
    await writeFile(join(root, BID, "manifest.checkm"), manifest);
  }
  const egress = createEgress();
  cleanups.add(() => egress.close());
  const payloads = openPayloads({ working: await openWorkingFolder(root), egress, manifestMaxBytes: 1_000_000 });
  return expandBatchStage({ payloads, profileOf: profileOf({ ...PROFILE, ...rules }), quotas });
}

const BATCH_TYPE = "single-file-batch-manifest";
const processing = (expansion: Expansion, given = {}) =>
  batch({ state: "Processing", expansion, submission: submission({ type: BATCH_TYPE, ...given }) });

describe("expanding a batch manifest", () => {
  test("makes one job of each row, in order, in chunks of 25", async () => {
    const manifest = manifestOf(60);
    const stage = await setup(manifest);
    const { jobs, chunks, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 60));
    expect(await stage.handle(of, batchContext(of, given))).toEqual({ kind: "release" });
    expect(chunks).toEqual([25, 25, 10]);
    expect(jobs.map((spec) => spec.configuration.payload_name)).toEqual(
      Array.from({ length: 60 }, (_, i) => `${i + 1}.txt`),
    );
  });

  test("makes smaller chunks of large rows", async () => {
    const manifest = fileBatchManifest(
      Array.from({ length: 30 }, (_, i) => `http://content.example/${i} | | | | | ${i} | | | | ${"t".repeat(9_000)}`),
    );
    const stage = await setup(manifest);
    const { chunks, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 30));
    await stage.handle(of, batchContext(of, given));
    expect(chunks).toEqual([11, 11, 8]);
  });

  test("gives a job what its row says", async () => {
    const manifest = manifestOf(2);
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 2), { erc_what: "of the form", primary_id: "ark:/99999/form" });
    await stage.handle(of, batchContext(of, given));
    expect(jobs[1]).toMatchObject({
      configuration: {
        profile_name: "demo_content",
        submitter: "ada",
        payload_type: "file",
        payload_url: "http://content.example/2.txt",
        payload_size: 2,
        digest_type: "md5",
        digest_value: "0".repeat(32),
        submission_mode: "add",
      },
      identifiers: { primary_id: null, local_id: ["local-2"] },
      metadata: { erc_who: "Ada", erc_what: "Title 2", erc_when: "1843" },
    });
  });

  test("makes jobs of the object manifests that came with a batch manifest of ours", async () => {
    const manifest = batchManifest("batch-manifest", ["upload:object-1.checkm | | | | | | | book-1"]);
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 1), { type: "batch-manifest", inline_manifests: 1 });
    await stage.handle(of, batchContext(of, given));
    expect(jobs).toMatchObject([
      {
        configuration: { payload_url: "upload:object-1.checkm", payload_type: "manifest" },
        identifiers: { local_id: ["book-1"] },
      },
    ]);
    expect(jobs[0]?.configuration["inline_manifests"]).toBeUndefined();
  });

  test("asks for the resource that the profile names", async () => {
    const manifest = manifestOf(1);
    const stage = await setup(manifest, { resourceToProvision: "zfs-large" });
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 1));
    await stage.handle(of, batchContext(of, given));
    expect(jobs[0]?.configuration.resource_to_provision).toBe("zfs-large");
  });

  test("goes on at the row after the cursor and repeats none", async () => {
    const manifest = manifestOf(60);
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 60, 50));
    await stage.handle(of, batchContext(of, given));
    expect(jobs.map((spec) => spec.configuration.payload_name)).toEqual(
      Array.from({ length: 10 }, (_, i) => `${i + 51}.txt`),
    );
  });

  test("stops at once when the batch is no longer ours", async () => {
    const manifest = manifestOf(60);
    const stage = await setup(manifest);
    let asked = 0;
    const addJobs: BatchContext["addJobs"] = () => {
      asked += 1;
      return Promise.resolve({ kind: "fenced" });
    };
    const of = processing(expansionOf(manifest, 60));
    expect(await stage.handle(of, batchContext(of, { addJobs }))).toEqual({ kind: "release" });
    expect(asked).toBe(1);
  });

  test("waits, and makes nothing, while the queue is paused or full", async () => {
    const manifest = manifestOf(60);
    const stage = await setup(manifest);
    const whys = [null, "the queue is paused"];
    const { jobs, given } = acceptingJobs({ expansionMustWait: () => Promise.resolve(whys.shift() ?? null) });
    const of = processing(expansionOf(manifest, 60));
    expect(await stage.handle(of, batchContext(of, given))).toMatchObject({
      kind: "snooze",
      why: "the queue is paused",
    });
    expect(jobs).toHaveLength(25);
  });

  test("makes nothing of a manifest that is not the one that was validated", async () => {
    const stage = await setup(manifestOf(61));
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifestOf(60), 60, 25));
    expect(await stage.handle(of, batchContext(of, given))).toMatchObject({ kind: "retry", code: "FILES_MISSING" });
    expect(jobs).toEqual([]);
  });

  test("makes nothing when the frozen manifest is gone", async () => {
    const stage = await setup(null);
    const of = processing(expansionOf(manifestOf(60), 60));
    expect(await stage.handle(of, batchContext(of))).toMatchObject({ kind: "retry", code: "FILES_MISSING" });
  });

  test("asks nobody for the type of a manifest that is frozen", async () => {
    const manifest = manifestOf(3);
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 3), { type: "", payload_url: "http://gone.invalid/list" });
    expect(await stage.handle(of, batchContext(of, given))).toEqual({ kind: "release" });
    expect(jobs).toHaveLength(3);
  });

  test("takes one without a header for what the submission says it is, as its validation does", async () => {
    const manifest = [row(1), row(2), "#%eof"].join("\n");
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 2));
    expect(await stage.handle(of, batchContext(of, given))).toEqual({ kind: "release" });
    expect(jobs.map((spec) => spec.configuration.payload_name)).toEqual(["1.txt", "2.txt"]);
  });

  test("that ends before its last row is tried again later, with a reason, and not at once without end", async () => {
    const manifest = manifestOf(3);
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 5));
    expect(await stage.handle(of, batchContext(of, given))).toMatchObject({
      kind: "retry",
      message: "the payload ended after row 3 of 5",
    });
    expect(jobs).toHaveLength(3);
  });

  test("opens the manifest when it is read: a stream that nobody reads would stay open for ever", async () => {
    const root = await temporaryFolder(cleanups);
    const egress = createEgress();
    cleanups.add(() => egress.close());
    const payloads = openPayloads({ working: await openWorkingFolder(root), egress, manifestMaxBytes: 1_000_000 });
    const path = join(root, "manifest.checkm");
    await writeFile(path, manifestOf(3));
    const chunks = payloads.read(path);
    await rm(path);
    await expect(chunks[Symbol.asyncIterator]().next()).rejects.toThrow("ENOENT");
  });

  test("is wanted only while rows are left", async () => {
    const stage = await setup(null);
    const wants = (rows: number, created: number) =>
      stage.wants!({ state: "Processing", expansion: { ...expansionOf("", rows), created } });
    expect([wants(3, 2), wants(3, 3)]).toEqual([true, false]);
    expect(stage.wants!({ state: "Processing", expansion: null })).toBe(false);
  });
});

describe("the priority of jobs", () => {
  test.each([
    [1, 5],
    [100, 51],
  ])("of a batch of %i is %i by Merritt's formula", async (rows, priority) => {
    const manifest = manifestOf(rows);
    const stage = await setup(manifest);
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, rows));
    await stage.handle(of, batchContext(of, given));
    expect(new Set(jobs.map((spec) => spec.priority))).toEqual(new Set([priority]));
  });

  test("is the profile's own if it has one", async () => {
    const manifest = manifestOf(100);
    const stage = await setup(manifest, { priority: 2 });
    const { jobs, given } = acceptingJobs();
    const of = processing(expansionOf(manifest, 100));
    await stage.handle(of, batchContext(of, given));
    expect(new Set(jobs.map((spec) => spec.priority))).toEqual(new Set([2]));
  });
});

describe("expanding a single payload", () => {
  test("makes one job of it, with everything the submission says", async () => {
    const stage = await setup(null);
    const { jobs, given } = acceptingJobs();
    const of = batch({
      state: "Processing",
      expansion: { rows: 1, created: 0, digest: "", reports: 0, op: "op" },
      submission: submission({
        type: "object-manifest",
        payload_url: "upload:list.checkm",
        erc_what: "Title",
        erc_who: "Ada",
        digest_type: "sha256",
        digest_value: "ab",
        payload_name: "list.checkm",
        payload_size: 12,
        primary_id: "ark:/99999/fk4a",
        local_id: ["one", "two"],
        note: "handle with care",
        request_digest: "secret of the batch",
      }),
    });
    expect(await stage.handle(of, batchContext(of, given))).toEqual({ kind: "release" });
    expect(jobs).toHaveLength(1);
    expect(jobs[0]).toMatchObject({
      priority: 5,
      configuration: {
        payload_type: "manifest",
        payload_url: "upload:list.checkm",
        payload_name: "list.checkm",
        payload_size: 12,
        digest_type: "sha256",
        digest_value: "ab",
        note: "handle with care",
      },
      identifiers: { primary_id: "ark:/99999/fk4a", local_id: ["one", "two"] },
      metadata: { erc_what: "Title", erc_who: "Ada" },
    });
    expect(jobs[0]!.configuration).not.toHaveProperty("request_digest");
    expect(jobs[0]!.configuration).not.toHaveProperty("local_id");
  });
});

test.each([
  ["batch-manifest", "manifest"],
  ["container-batch-manifest", "container"],
] as const)("each row of a %s becomes a job of type %s", async (kind, type) => {
  const manifest = batchManifest(kind, [
    "http://content.example/a | | | | | a",
    "http://content.example/b | | | | | b",
  ]);
  const stage = await setup(manifest);
  const { jobs, given } = acceptingJobs();
  const of = processing(expansionOf(manifest, 2), { type: "" });
  await stage.handle(of, batchContext(of, given));
  expect(jobs.map((spec) => spec.configuration.payload_type)).toEqual([type, type]);
});
