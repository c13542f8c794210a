import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  ContainedFolder,
  createEgress,
  type Downloaded,
  type DownloadOptions,
  downloadTo,
  type Egress,
  LOOPBACK,
  type Outcome,
  PUBLIC_ONLY,
} from "../src/index.ts";
import {
  type Behaviour,
  content,
  endless,
  Progress,
  ranged,
  stalling,
  startServer,
  status,
  type TestServer,
  truncated,
} from "./misbehaving-server.ts";

const BODY = randomBytes(200_000);
const hash = (algorithm: string, bytes = BODY) => createHash(algorithm).update(bytes).digest("hex");
const SHA256 = { algorithm: "sha256", value: hash("sha256") } as const;

let server: TestServer;
let egress: Egress;
let folder: ContainedFolder;
let waits: number[];
let progress: Progress;

beforeEach(async () => {
  server = await startServer();
  egress = createEgress({ policy: { ...PUBLIC_ONLY, allow: LOOPBACK }, idleTimeoutMs: 2_000 });
  const opened = await ContainedFolder.open(await mkdtemp(join(tmpdir(), "sluice-download-")));
  if (!opened.ok) throw new Error(opened.error.message);
  folder = opened.value;
  waits = [];
  progress = new Progress();
});
afterEach(async () => {
  await egress.close();
  await server.close();
  await rm(folder.root, { recursive: true, force: true });
});

function download(behaviours: readonly Behaviour[], options: DownloadOptions = {}): Promise<Outcome<Downloaded>> {
  const url = server.on("/file", ...behaviours);
  const wait = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return downloadTo(egress, url, folder, "producer/file.bin", {
    wait,
    random: () => 1,
    onProgress: progress.report,
    ...options,
  });
}

const ranges = (): (string | undefined)[] => server.requests.map(({ headers }) => headers.range);

/** Nothing was stored, not even something unfinished. */
const leftBehind = async (): Promise<string[]> => readdir(join(folder.root, "producer"));

async function storedIs(expected: Buffer): Promise<boolean> {
  const read = await folder.read("producer/file.bin");
  return read.ok && read.value.equals(expected);
}

describe("a download", () => {
  test("stores the bytes and tells their digests", async () => {
    const seen: number[] = [];
    const outcome = await download([content(BODY, { "content-type": "image/tiff" })], {
      expectedDigest: { algorithm: "md5", value: hash("md5").toUpperCase() },
      expectedBytes: BODY.length,
      onProgress: (bytes) => seen.push(bytes),
    });
    expect(outcome).toEqual({
      ok: true,
      value: {
        bytes: BODY.length,
        digests: { sha256: SHA256.value, md5: hash("md5") },
        reused: false,
        attempts: 1,
        contentType: "image/tiff",
      },
    });
    expect(await storedIs(BODY)).toBe(true);
    expect(seen.at(-1)).toBe(BODY.length);
    expect(await leftBehind()).toEqual(["file.bin"]);
  });

  test("of an empty file is a file", async () => {
    expect(await download([content("")], { expectedBytes: 0 })).toMatchObject({ ok: true, value: { bytes: 0 } });
    expect(await storedIs(Buffer.alloc(0))).toBe(true);
  });

  test("is not repeated when the file is there with its digest", async () => {
    await download([content(BODY)]);
    const again = await download([status(500)], { expectedDigest: SHA256, expectedBytes: BODY.length });
    expect(again).toMatchObject({ ok: true, value: { reused: true, attempts: 0, bytes: BODY.length } });
    expect(server.requests).toHaveLength(1);
  });

  test("is repeated when the file that is there is another one", async () => {
    await folder.write("producer/file.bin", "something else");
    expect(await download([content(BODY)], { expectedDigest: SHA256 })).toMatchObject({
      ok: true,
      value: { reused: false },
    });
    expect(await storedIs(BODY)).toBe(true);
  });
});

describe("a download that breaks off", () => {
  test("goes on where it stopped if the content is surely the same", async () => {
    const outcome = await download([ranged(BODY, '"v1"', { sent: 50_000, progress }), ranged(BODY, '"v1"')], {
      expectedDigest: SHA256,
    });
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 2, bytes: BODY.length } });
    const [first, second] = ranges();
    expect(first).toBeUndefined();
    expect(second).toBe("bytes=50000-");
    expect(await storedIs(BODY)).toBe(true);
  });

  test("goes on several times", async () => {
    const part = ranged(BODY, '"v1"', { sent: 60_000, progress });
    const outcome = await download([part, part, part, ranged(BODY, '"v1"')], { expectedDigest: SHA256 });
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 4 } });
    expect(waits).toEqual([500, 2000, 8000]);
  });

  test("starts over if the content has changed meanwhile", async () => {
    const outcome = await download(
      [ranged(randomBytes(200_000), '"v1"', { sent: 50_000, progress }), ranged(BODY, '"v2"')],
      {
        expectedDigest: SHA256,
      },
    );
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 2 } });
    expect(await storedIs(BODY)).toBe(true);
  });

  test.each<[string, Record<string, string>]>([
    ["a weak ETag", { etag: 'W/"v1"' }],
    ["no ETag", {}],
  ])("starts over with %s", async (_name, headers) => {
    const outcome = await download([truncated(BODY, 50_000, headers), content(BODY, headers)]);
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 2 } });
    expect(ranges()).toEqual([undefined, undefined]);
    expect(await storedIs(BODY)).toBe(true);
  });

  test("starts over when the server sends another part than asked for", async () => {
    const wrongPart: Behaviour = (_request, response) => {
      response.writeHead(206, { etag: '"v1"', "content-range": "bytes 7-9/10", "content-length": "3" }).end("abc");
    };
    const outcome = await download(
      [ranged(BODY, '"v1"', { sent: 50_000, progress }), wrongPart, ranged(BODY, '"v1"')],
      {
        expectedDigest: SHA256,
      },
    );
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 3 } });
    expect(ranges()[2]).toBeUndefined();
  });

  test("starts over when the rest does not exist any more", async () => {
    const outcome = await download([ranged(BODY, '"v1"', { sent: 50_000, progress }), status(416), content(BODY)]);
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 3 } });
    expect(await storedIs(BODY)).toBe(true);
  });

  test("starts over once when the joined parts have the wrong digest", async () => {
    const other = randomBytes(200_000);
    const outcome = await download(
      [ranged(other, '"same"', { sent: 50_000, progress }), ranged(BODY, '"same"'), ranged(BODY, '"same"')],
      { expectedDigest: SHA256 },
    );
    expect(outcome).toMatchObject({ ok: true, value: { attempts: 3 } });
    expect(await storedIs(BODY)).toBe(true);
  });
});

describe("a download fails, and leaves nothing behind,", () => {
  test.each<[string, Behaviour[], DownloadOptions, object, number]>([
    ["at once for 404", [status(404)], {}, { code: "HTTP_STATUS", status: 404, retryable: false }, 1],
    ["after four tries for 503", [status(503)], {}, { code: "HTTP_STATUS", status: 503, retryable: true }, 4],
    ["after four broken transfers", [truncated(BODY, 10)], {}, { code: "CONNECTION_LOST", retryable: true }, 4],
    [
      "for a wrong digest",
      [content("other")],
      { expectedDigest: SHA256 },
      { code: "DIGEST_MISMATCH", retryable: false },
      1,
    ],
    [
      "for a body that is too short",
      [content("abc")],
      { expectedBytes: 4 },
      { code: "SIZE_MISMATCH", retryable: false },
      1,
    ],
    ["for a body that is longer than announced", [content("abcde")], { expectedBytes: 4 }, { code: "TOO_LARGE" }, 1],
    ["for a body without end", [endless], { maxBytes: 1_000_000 }, { code: "TOO_LARGE", retryable: false }, 1],
    ["for 30 GB where 1 KB was said", [endless], { expectedBytes: 1_000, maxBytes: 30e9 }, { code: "TOO_LARGE" }, 1],
  ])("%s", async (_name, behaviours, options, error, requests) => {
    expect(await download(behaviours, options)).toMatchObject({ ok: false, error });
    expect(server.requests).toHaveLength(requests);
    expect(await leftBehind()).toEqual([]);
  });

  test("for a total deadline", async () => {
    const options = { request: { totalTimeoutMs: 50 }, retry: { attempts: 1 } };
    expect(await download([stalling], options)).toMatchObject({
      ok: false,
      error: { code: "TIMEOUT", retryable: true },
    });
    // On a busy machine the deadline passes before the server has seen the request.
    expect(server.requests.length).toBeLessThanOrEqual(1);
    expect(await leftBehind()).toEqual([]);
  });

  test("but for content with a wrong digest, kept aside if there is a place for it", async () => {
    const rejected = { folder, name: "rejected/file.bin" };
    const outcome = await download([content("other")], { expectedDigest: SHA256, rejected });
    expect(outcome).toMatchObject({ ok: false, error: { code: "DIGEST_MISMATCH" } });
    expect(await leftBehind()).toEqual([]);
    expect(await readdir(join(folder.root, "rejected"))).toEqual(["file.bin"]);
  });

  test("for a name that leaves the folder, without asking", async () => {
    const outcome = await downloadTo(egress, server.on("/x", content("x")), folder, "../x");
    expect(outcome).toMatchObject({ ok: false, error: { code: "NAME_REFUSED" } });
    expect(server.requests).toHaveLength(0);
  });
});

describe("between two tries", () => {
  test("the host's wish is obeyed", async () => {
    await download([status(503, { "retry-after": "7" }), content(BODY)]);
    expect(waits).toEqual([7000]);
  });

  test("a wish that is too long is handed on instead", async () => {
    const outcome = await download([status(429, { "retry-after": "3600" })]);
    expect(outcome).toMatchObject({ ok: false, error: { status: 429, retryAfterMs: 3_600_000 } });
    expect(waits).toEqual([]);
  });

  test("the pause grows and is random", async () => {
    await download([status(500)], { random: () => 0.5 });
    expect(waits).toEqual([250, 1000, 4000]);
  });

  test("the caller can stop", async () => {
    const controller = new AbortController();
    const outcome = await download([status(500)], {
      signal: controller.signal,
      wait: () => {
        controller.abort();
        return Promise.resolve();
      },
    });
    expect(outcome).toMatchObject({ ok: false, error: { code: "ABORTED", retryable: false } });
    expect(server.requests).toHaveLength(1);
  });
});
