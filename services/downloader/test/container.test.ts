import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ZipFile } from "yazl";
import { content, status } from "./content-server.ts";
import { BID, openWorkbench, type Workbench } from "./workbench.ts";

const sha256 = (data: string | Buffer): string => createHash("sha256").update(data).digest("hex");

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

async function zipOf(files: Readonly<Record<string, string>>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, text] of Object.entries(files)) zip.addBuffer(Buffer.from(text), name, { compress: false });
  zip.end();
  const chunks: Buffer[] = [];
  for await (const chunk of zip.outputStream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const FILES = { "mrt-erc.txt": "erc:", "data/a b.txt": "hello", "inner.zip": "PK" };
const HERE = [
  ".claim-5/contents.jsonl",
  ".claim-5/producer/data/a b.txt",
  ".claim-5/producer/inner.zip",
  ".claim-5/producer/mrt-erc.txt",
];
const DONE = { kind: "done", changes: { keepFiles: true, spaceNeeded: 11 } };

async function served(path = "/d.zip"): Promise<{ payload_url: string; payload_type: string; zip: Buffer }> {
  const zip = await zipOf(FILES);
  return { payload_url: bench.server.on(path, content(zip)), payload_type: "container", zip };
}

const getsOf = (path: string): number => bench.server.requests.filter((line) => line === `GET ${path}`).length;

describe("a container", () => {
  test("is unpacked, and makes way for its files; reserved names and containers inside stay as they are", async () => {
    const { zip, ...job } = await served();
    expect(await bench.run({ ...job, payload_size: zip.length }, { spaceNeeded: zip.length })).toEqual(DONE);
    expect(await bench.list()).toEqual(HERE);
    expect(await bench.read(".claim-5/producer/data/a b.txt")).toBe("hello");
    const lines = (await bench.read(".claim-5/contents.jsonl")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual({
      name: "data/a b.txt",
      bytes: 5,
      sha256: sha256("hello"),
    });
    expect(bench.shown.at(-1)).toMatchObject({ doneBytes: 11, note: "unpacking: 2 files here" });
  });

  test("that was uploaded is unpacked too, and the upload stays", async () => {
    await mkdir(join(bench.root, BID, "uploads"), { recursive: true });
    await writeFile(join(bench.root, BID, "uploads", "u.zip"), await zipOf(FILES));
    expect(await bench.run({ payload_url: "upload:u.zip", payload_type: "container" })).toEqual(DONE);
    expect(await bench.list()).toEqual(HERE);
  });

  test("with a wrong digest is kept aside, and never unpacked", async () => {
    const { zip: _zip, ...job } = await served();
    const outcome = await bench.run({ ...job, digest_type: "sha256", digest_value: sha256("other") });
    expect(outcome).toMatchObject({ kind: "fail", code: "DIGEST_MISMATCH" });
    expect(await bench.list()).toEqual([".claim-5/rejected/d.zip"]);
  });

  test.each([
    ["leaves the folder", { "ok.txt": "x", "aa/evil": "x" }, "aa/evil", "../evil", "NAME_REFUSED"],
    ["comes twice", { "ok1.txt": "x", "ok2.txt": "x" }, "ok2.txt", "ok1.txt", "CONTAINER_REFUSED"],
    ["is damaged", { "ok.txt": "x", "bad.txt": "CONTENT" }, "CONTENT", "DAMAGED", "CONTAINER_CORRUPT"],
  ])("with an entry that %s fails the job, with the entry named", async (_how, files, from, to, code) => {
    const zip = Buffer.from((await zipOf(files)).toString("latin1").replaceAll(from, to), "latin1");
    const url = bench.server.on("/d.zip", content(zip));
    const outcome = await bench.run({ payload_url: url, payload_type: "container" });
    expect(outcome).toMatchObject({ kind: "fail", code });
    expect(outcome).toMatchObject({
      message: expect.stringMatching(/^container\/d\.zip: "(\.\.\/evil|ok1\.txt|bad\.txt)": /) as unknown,
    });
    expect(await bench.list()).toEqual([".claim-5/container/d.zip"]);
  });

  test.each([
    ["a page of HTML", Buffer.from("<html>gone</html>"), "CONTAINER_CORRUPT"],
    ["a bomb", gzipSync(Buffer.alloc(5_000_000)), "CONTAINER_REFUSED"],
  ])("that is %s fails the job", async (_what, body, code) => {
    const url = bench.server.on("/d.tar.gz", content(body));
    const outcome = await bench.run({ payload_url: url, payload_type: "container" });
    expect(outcome).toMatchObject({ kind: "fail", code });
    expect((await bench.list()).filter((name) => name.includes("producer"))).toEqual([]);
  });

  test("that takes too long to unpack fails the job, and what to do is said", async () => {
    const limited = await openWorkbench({ archiveLimits: { maxMs: -1, minBytesPerSecond: 1e12 } });
    try {
      const url = limited.server.on("/d.zip", content(await zipOf(FILES)));
      expect(await limited.run({ payload_url: url, payload_type: "container" })).toMatchObject({
        kind: "fail",
        code: "CONTAINER_TIMEOUT",
        message: expect.stringContaining("submit the content as several smaller containers") as unknown,
      });
      expect((await limited.list()).filter((name) => name.includes("producer"))).toEqual([]);
    } finally {
      await limited.close();
    }
  });

  test("that is gone fails the job like any file", async () => {
    const url = bench.server.on("/d.zip", status(404));
    expect(await bench.run({ payload_url: url, payload_type: "container" })).toMatchObject({ code: "DOWNLOAD_FAILED" });
  });
});

describe("a container whose worker died", () => {
  test.each(["afterFetch", "afterUnpack", "midEffect"])("at %s is whole after the next run", async (step) => {
    const { zip, ...served_ } = await served();
    const job = { ...served_, digest_type: "sha256", digest_value: sha256(zip) };
    await bench.dieAt(step, job, { token: 4 });
    expect(await bench.run(job)).toEqual(DONE);
    expect(await bench.list()).toEqual(HERE);
    expect(getsOf("/d.zip")).toBe(step === "midEffect" ? 2 : 1); // taken over while it is there, and its digest proves it
  });

  test("in the middle of unpacking is whole after the next run, by the same claim or another", async () => {
    const { zip: _zip, ...job } = await served();
    for (const token of [4, 5]) {
      await bench.put(`.claim-${token}/producer/data/half.txt`, "ha");
      await bench.put(`.claim-${token}/producer/data/.sluice-tmp-1`, "h");
    }
    expect(await bench.run(job)).toEqual(DONE);
    expect(await bench.list()).toEqual(HERE);
    expect(await bench.run(job)).toEqual(DONE);
    expect(await bench.list()).toEqual(HERE);
  });
});
