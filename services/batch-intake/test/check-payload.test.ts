import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "@jest/globals";
import type { Job } from "@sluice/queue-core";
import { createEgress, LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { openWorkingFolder } from "@sluice/working-folder";
import { checkPayloadStage } from "../src/duties/check-payload.ts";
import { openPayloads } from "../src/files/payloads.ts";
import { BID, JID, job, jobContext, makeCleanups, objectManifest, serve, temporaryFolder } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const md5 = (text: string): string => createHash("md5").update(text).digest("hex");
const MANIFEST = objectManifest(["http://content.example/a | | | | | a", "http://content.example/b | | | | | b"]);

async function setup(body = MANIFEST) {
  const root = await temporaryFolder(cleanups);
  const base = await serve(cleanups, (_req, res) => void res.end(body));
  const egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK } });
  cleanups.add(() => egress.close());
  const payloads = openPayloads({ working: await openWorkingFolder(root), egress, manifestMaxBytes: 10_000 });
  const stage = checkPayloadStage({ payloads, rules: { mode: "default", maxBytes: 10_000 } });
  await mkdir(join(root, BID, "uploads"), { recursive: true });
  const check = (configuration: Partial<Job["configuration"]>) => stage.handle(job(configuration), jobContext());
  return {
    root,
    base,
    check,
    upload: (name: string, text: string) => writeFile(join(root, BID, "uploads", name), text),
  };
}

describe("a file", () => {
  test("that is still elsewhere passes without a look at it", async () => {
    const { check } = await setup();
    expect(await check({ payload_url: "http://nowhere.invalid/x" })).toEqual({ kind: "done", changes: {} });
  });

  test("that was uploaded passes when its digest is the depositor's, in any spelling", async () => {
    const { check, upload } = await setup();
    await upload("a b.txt", "hello");
    const outcome = await check({
      payload_url: "upload:a b.txt",
      digest_type: "MD5",
      digest_value: md5("hello").toUpperCase(),
    });
    expect(outcome).toEqual({ kind: "done", changes: {} });
  });

  test("that was uploaded fails when its digest is another one", async () => {
    const { check, upload } = await setup();
    await upload("a.txt", "hello");
    const outcome = await check({ payload_url: "upload:a.txt", digest_type: "md5", digest_value: md5("hullo") });
    expect(outcome).toMatchObject({ kind: "fail", code: "PAYLOAD_DIGEST_MISMATCH" });
  });

  test("that is a container is checked like any other", async () => {
    const { check, upload } = await setup();
    await upload("a.zip", "hello");
    const place = { payload_type: "container", payload_url: "upload:a.zip", digest_type: "md5" };
    expect(await check({ ...place, digest_value: md5("hello") })).toEqual({ kind: "done", changes: {} });
    expect(await check({ ...place, digest_value: md5("hullo") })).toMatchObject({ code: "PAYLOAD_DIGEST_MISMATCH" });
  });

  test("that was uploaded fails when it is gone", async () => {
    const { check } = await setup();
    expect(await check({ payload_url: "upload:a.txt" })).toMatchObject({ kind: "fail", code: "PAYLOAD_UNREADABLE" });
  });

  test("with a digest that nobody computes fails", async () => {
    const { check } = await setup();
    expect(await check({ digest_type: "md2", digest_value: "0".repeat(32) })).toMatchObject({
      kind: "fail",
      code: "DIGEST_UNSUPPORTED",
    });
  });
});

describe("an object manifest", () => {
  test("is fetched into the claim's folder, and its files count from now on", async () => {
    const { root, base, check } = await setup();
    const outcome = await check({ payload_type: "manifest", payload_url: `${base}/list.checkm` });
    expect(outcome).toEqual({ kind: "done", changes: { keepFiles: true } });
    expect(await readFile(join(root, BID, JID, ".claim-3", "manifest.checkm"), "utf8")).toBe(MANIFEST);
  });

  test("that was uploaded is copied there and stays where it was", async () => {
    const { root, check, upload } = await setup();
    await upload("list.checkm", MANIFEST);
    await check({ payload_type: "manifest", payload_url: "upload:list.checkm" });
    expect(await readFile(join(root, BID, JID, ".claim-3", "manifest.checkm"), "utf8")).toBe(MANIFEST);
    expect(await readFile(join(root, BID, "uploads", "list.checkm"), "utf8")).toBe(MANIFEST);
  });

  test("with two files of one name fails and names the row", async () => {
    const row = "http://content.example/a | | | | | a";
    const { base, check } = await setup(objectManifest([row, row]));
    expect(await check({ payload_type: "manifest", payload_url: base })).toMatchObject({
      kind: "fail",
      code: "MANIFEST_CORRUPT",
      message: expect.stringContaining("row 2"),
    });
  });

  test("with a file that has no name fails", async () => {
    const { base, check } = await setup(objectManifest(["http://content.example/a"]));
    expect(await check({ payload_type: "manifest", payload_url: base })).toMatchObject({
      kind: "fail",
      code: "MANIFEST_CORRUPT",
      message: expect.stringContaining("no file name"),
    });
  });

  test.each(["../a", "/etc/a", "a//b", "a\\b"])("with the name %j fails and names the row", async (name) => {
    const rows = ["http://content.example/a | | | | | good", `http://content.example/b | | | | | ${name}`];
    const { base, check } = await setup(objectManifest(rows));
    expect(await check({ payload_type: "manifest", payload_url: base })).toMatchObject({
      kind: "fail",
      code: "MANIFEST_CORRUPT",
      message: expect.stringContaining(`row 2, fileName: ${JSON.stringify(name)}`),
    });
  });

  test("that is not what the depositor's digest says fails", async () => {
    const { base, check } = await setup();
    const digest = { digest_type: "md5", digest_value: md5("other") };
    expect(await check({ payload_type: "manifest", payload_url: base, ...digest })).toMatchObject({
      kind: "fail",
      code: "PAYLOAD_DIGEST_MISMATCH",
    });
  });
});

test("a job of a type that is not taken fails by name", async () => {
  const { check } = await setup();
  expect(await check({ payload_type: "batch-manifest" })).toMatchObject({ kind: "fail", code: "UNSUPPORTED_TYPE" });
});
