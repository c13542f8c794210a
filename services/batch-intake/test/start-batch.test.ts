import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { openWorkingFolder } from "@sluice/working-folder";
import { startBatchStage } from "../src/duties/start-batch.ts";
import { openPayloads } from "../src/files/payloads.ts";
import {
  batch,
  batchContext,
  batchManifest,
  BID,
  fileBatchManifest,
  makeCleanups,
  objectManifest,
  profileOf,
  serve,
  submission,
  temporaryFolder,
} from "./support.ts";
import type { RequestListener } from "node:http";
import type { ManifestMode } from "@sluice/ingest-formats";
import type { Submission } from "@sluice/queue-core";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const BATCH_TYPE = "single-file-batch-manifest";
const ROWS = ["http://content.example/a.txt | | | | | a.txt", "http://content.example/b.txt | | | | | b.txt"];

async function setup(
  listener: RequestListener = (_req, res) => res.writeHead(404).end(),
  loopback = true,
  mode: ManifestMode = "default",
) {
  const root = await temporaryFolder(cleanups);
  const base = await serve(cleanups, listener);
  const egress = createEgress(loopback ? { policy: { ...PUBLIC_ONLY, allow: LOOPBACK } } : {});
  cleanups.add(() => egress.close());
  const working = await openWorkingFolder(root);
  const payloads = openPayloads({ working, egress, manifestMaxBytes: 100_000 });
  const stage = startBatchStage({ payloads, profileOf: profileOf(), rules: { mode, maxBytes: 100_000 } });
  const start = (given: Partial<Submission>) => {
    const pending = batch({ submission: submission({ payload_url: `${base}/it`, ...given }) });
    return stage.handle(pending, batchContext(pending));
  };
  return { root, base, start };
}

const serving =
  (body: string, status = 200): RequestListener =>
  (_req, res) =>
    void res.writeHead(status).end(body);

async function upload(root: string, name: string, text: string): Promise<void> {
  await mkdir(join(root, BID, "uploads"), { recursive: true });
  await writeFile(join(root, BID, "uploads", name), text);
}

describe("a batch of single files", () => {
  test("is started with its rows counted and its manifest frozen byte for byte", async () => {
    const manifest = fileBatchManifest(ROWS);
    const { root, start } = await setup(serving(manifest));
    expect(await start({ type: BATCH_TYPE })).toEqual({ kind: "start", rows: 2, digest: sha256(manifest) });
    expect(await readFile(join(root, BID, "manifest.checkm"), "utf8")).toBe(manifest);
  });

  test("whose manifest was uploaded is started without a request to anybody", async () => {
    const manifest = fileBatchManifest(ROWS);
    const { root, start } = await setup();
    await upload(root, "batch list.checkm", manifest);
    const outcome = await start({ type: BATCH_TYPE, payload_url: "upload:batch list.checkm" });
    expect(outcome).toEqual({ kind: "start", rows: 2, digest: sha256(manifest) });
    expect(await readFile(join(root, BID, "manifest.checkm"), "utf8")).toBe(manifest);
  });

  test.each(["default", "strict"] as const)("names what came with it only where we wrote that: %s", async (mode) => {
    const manifest = batchManifest("batch-manifest", ["upload:object-1.checkm"]);
    const { root, start } = await setup(undefined, true, mode);
    await upload(root, "objects.checkm", manifest);
    const of = { type: "batch-manifest", payload_url: "upload:objects.checkm" };
    expect(await start({ ...of, inline_manifests: 1 })).toMatchObject({ kind: "start", rows: 1 });
    const refused = { kind: "fail", code: "MANIFEST_CORRUPT", message: expect.stringContaining("upload:") };
    expect(await start(of)).toMatchObject(refused);
    await upload(root, "objects.checkm", batchManifest("batch-manifest", ["upload:object-2.checkm"]));
    expect(await start({ ...of, inline_manifests: 1 })).toMatchObject(refused);
  });

  test("is found out from its content when the submission does not say", async () => {
    const { start } = await setup(serving(fileBatchManifest(ROWS)));
    expect(await start({ type: "" })).toMatchObject({ kind: "start", rows: 2 });
  });

  test("fails as a whole, naming the rows, when any row of it is wrong", async () => {
    const { start } = await setup(
      serving(fileBatchManifest([...ROWS, "ftp://content.example/c | | | | | c", "| | | | | d"])),
    );
    const outcome = await start({ type: BATCH_TYPE });
    expect(outcome).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
    expect(outcome).toMatchObject({ message: expect.stringMatching(/row 3.*fileUrl.*row 4.*no URL/) });
  });

  test("fails when the manifest was cut off", async () => {
    const { start } = await setup(serving(fileBatchManifest(ROWS).replace("#%eof\n", "")));
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
  });

  test("fails when the manifest is of another kind than submitted", async () => {
    const { start } = await setup(serving(objectManifest(ROWS)));
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
  });

  test("fails when the manifest is empty", async () => {
    const { start } = await setup(serving(fileBatchManifest([])));
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
  });

  test("fails when a row is longer than a job's nodes can hold", async () => {
    const { start } = await setup(serving(fileBatchManifest([`${ROWS[0]!} | | | | ${"t".repeat(10_000)}`])));
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
  });

  test("fails when the manifest is larger than allowed", async () => {
    const { start } = await setup(serving(fileBatchManifest(Array.from({ length: 4_000 }, () => ROWS[0]!))));
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
  });

  test.each([
    ["fetched", "http"],
    ["uploaded", "upload:list.checkm"],
  ])("fails when its %s manifest is not what the depositor's digest says", async (_how, url) => {
    const { root, start } = await setup(serving(fileBatchManifest(ROWS)));
    await upload(root, "list.checkm", fileBatchManifest(ROWS));
    const outcome = await start({
      type: BATCH_TYPE,
      digest_type: "md5",
      digest_value: "0".repeat(32),
      ...(url === "http" ? {} : { payload_url: url }),
    });
    expect(outcome).toMatchObject({ kind: "fail", code: "PAYLOAD_DIGEST_MISMATCH" });
  });

  test("is tried again later when the manifest's server has a bad day", async () => {
    const { start } = await setup((_req, res) => res.writeHead(503, { "retry-after": "120" }).end());
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "retry", code: "MANIFEST_UNREACHABLE" });
  });

  test("fails when there is no manifest at its URL", async () => {
    const { start } = await setup();
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "MANIFEST_UNREACHABLE" });
  });

  test("fails when its URL is one that we do not fetch from", async () => {
    const { start } = await setup(serving(fileBatchManifest(ROWS)), false);
    expect(await start({ type: BATCH_TYPE })).toMatchObject({ kind: "fail", code: "URL_REFUSED" });
  });

  test("never reads an upload outside its own folder", async () => {
    const { root, start } = await setup();
    await writeFile(join(root, "secret.checkm"), fileBatchManifest(ROWS));
    const outcome = await start({ type: BATCH_TYPE, payload_url: "upload:../../secret.checkm" });
    expect(outcome).toMatchObject({ kind: "fail", code: "NAME_REFUSED" });
  });

  test("starts again from a fresh copy after an attempt that died", async () => {
    const manifest = fileBatchManifest(ROWS);
    const { root, start } = await setup(serving(manifest));
    await mkdir(join(root, BID), { recursive: true });
    await writeFile(join(root, BID, "manifest.checkm"), "left behind");
    expect(await start({ type: BATCH_TYPE })).toEqual({ kind: "start", rows: 2, digest: sha256(manifest) });
  });
});

describe("a batch of manifests or containers", () => {
  test.each(["batch-manifest", "container-batch-manifest"] as const)(
    "as a %s is started with its rows counted, its type given or found from its content",
    async (kind) => {
      const manifest = batchManifest(kind, ["http://content.example/a.zip | | | | | a.zip"]);
      const { start } = await setup(serving(manifest));
      const started = { kind: "start", rows: 1, digest: sha256(manifest) };
      expect([await start({ type: kind }), await start({ type: "" })]).toEqual([started, started]);
    },
  );

  test("that names itself in a row is refused: it would expand without end", async () => {
    const server: { manifest: string } = { manifest: "" };
    const { base, start } = await setup((_req, res) => void res.end(server.manifest));
    server.manifest = batchManifest("batch-manifest", [`${base}/other | | | | | o`, `${base}/it | | | | | it`]);
    expect(await start({ type: "batch-manifest" })).toMatchObject({
      kind: "fail",
      code: "MANIFEST_CORRUPT",
      message: expect.stringMatching(/^(?!.*row 1).*row 2.*this very manifest/),
    });
  });

  test.each(["batch-manifest", "container-batch-manifest"] as const)("that is an empty %s fails", async (kind) => {
    const { start } = await setup(serving(batchManifest(kind, [])));
    expect(await start({ type: kind })).toMatchObject({ kind: "fail", code: "MANIFEST_CORRUPT" });
  });
});

describe("strict mode", () => {
  const twice = batchManifest("container-batch-manifest", [
    "http://content.example/a.zip | | | | | a.zip",
    "http://content.example/b.zip | | | | | a.zip",
  ]);

  test("refuses what production lets pass: a name that is there twice in a batch", async () => {
    const strict = await setup(serving(twice), true, "strict");
    const usual = await setup(serving(twice));
    expect(await strict.start({ type: "container-batch-manifest" })).toMatchObject({
      kind: "fail",
      message: expect.stringMatching(/row 2.*used before/),
    });
    expect(await usual.start({ type: "container-batch-manifest" })).toMatchObject({ kind: "start", rows: 2 });
  });

  test("takes a manifest that follows all rules", async () => {
    const row = `https://content.example.org/a.zip | sha-256 | ${"ab".repeat(32)} | 5 | | a.zip`;
    const { start } = await setup(serving(batchManifest("container-batch-manifest", [row])), true, "strict");
    expect(await start({ type: "container-batch-manifest" })).toMatchObject({ kind: "start", rows: 1 });
  });
});

describe("a single payload", () => {
  test.each([["file"], ["container"], ["object-manifest"], ["manifest"]])(
    "of type %s is one row without a manifest",
    async (type) => {
      const { start } = await setup();
      expect(await start({ type })).toEqual({ kind: "start", rows: 1, digest: "" });
    },
  );

  test("without a type is looked at: anything that is no batch manifest is one row", async () => {
    const { start } = await setup(serving("just a text"));
    expect(await start({ type: "" })).toEqual({ kind: "start", rows: 1, digest: "" });
  });

  test("of a type that nobody knows fails and is told which types are taken", async () => {
    const { start } = await setup();
    expect(await start({ type: "nonsense" })).toMatchObject({
      kind: "fail",
      code: "UNSUPPORTED_TYPE",
      message: expect.stringContaining("single-file-batch-manifest"),
    });
  });

  test("of a profile that is gone is tried again: somebody may bring the profile back", async () => {
    const { start } = await setup();
    expect(await start({ profile_name: "gone_content" })).toMatchObject({ kind: "retry", code: "PROFILE_UNKNOWN" });
  });
});
