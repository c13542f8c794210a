/** What the world does to a download, F17 to F26: each as a real job, to its end, and past it when the world is mended. */
import { createHash } from "node:crypto";
import type { RequestListener } from "node:http";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { LOOPBACK, PUBLIC_ONLY } from "@sluice/safe-io";
import { waitFor } from "@sluice/testkit";
import { content, dripping, endless, ranged, stalling, startContentServer, status } from "./content-server.ts";
import { type Options, type RunningDownloader, startDownloader } from "./running-downloader.ts";

let fleet: RunningDownloader;
afterEach(async () => {
  const found = fleet.violations();
  await fleet.close();
  expect(found).toEqual([]);
});

async function start(options: Options = {}): Promise<RunningDownloader> {
  fleet = await startDownloader(options);
  return fleet;
}

const onlyLoopback = { policy: { ...PUBLIC_ONLY, allow: LOOPBACK } };
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const redirect = (location: string) => status(302, { location });
const DONE = ["Processing", ""] as const;
const has = (text: string): unknown => expect.stringContaining(text);
const THERE = { "producer/a.txt": "hello" };

/** Mends the world, lets an operator resume the job, and sees it through. */
async function recovers(id: Awaited<ReturnType<RunningDownloader["submit"]>>): Promise<void> {
  fleet.server.on("/a.txt", content("hello"));
  await fleet.resume(id);
  expect(await fleet.end(id)).toEqual(DONE);
  expect(await fleet.files(id)).toEqual(THERE);
}

describe("F17: a host that cannot be reached", () => {
  test("because its name does not resolve is tried again, and had when the name is back", async () => {
    let asked = 0;
    const resolve = (): Promise<string[]> => {
      asked += 1;
      if (asked > 3) return Promise.resolve(["127.0.0.1"]);
      return Promise.reject(
        Object.assign(new Error("no such name"), { code: asked === 1 ? "EAI_AGAIN" : "ENOTFOUND" }),
      );
    };
    await start({ egress: { resolve, policy: { ...PUBLIC_ONLY, allow: LOOPBACK } } });
    fleet.server.on("/a.txt", content("hello"));
    const id = await fleet.submit({ payload_url: `http://data.example:${fleet.server.port}/a.txt` });
    expect(await fleet.end(id)).toEqual(DONE);
    expect([asked, await fleet.files(id)]).toEqual([4, THERE]);
  });

  test("because nobody listens fails the job after its attempts, and can be resumed", async () => {
    await start({ egress: { policy: { ...PUBLIC_ONLY, allow: LOOPBACK } } });
    const port = await freePort();
    const id = await fleet.submit({ payload_url: `http://127.0.0.1:${port}/a.txt` });
    expect(await fleet.end(id)).toEqual([
      "Failed",
      `DOWNLOAD_FAILED: given up after 3 attempts: "a.txt": http://127.0.0.1:${port}/a.txt: no connection (ECONNREFUSED)`,
    ]);
    expect(fleet.pauses).toHaveLength(3); // one between the two tries of each attempt
    const late = await startContentServer(port);
    late.on("/a.txt", content("hello"));
    await recovers(id);
    await late.close();
  });
});

describe("F18: an answer that is a refusal", () => {
  test.each([404, 410, 401, 403])("%d fails the job at once, and it can be resumed when it is mended", async (code) => {
    await start();
    const url = fleet.server.on("/a.txt", status(code));
    const id = await fleet.submit({ payload_url: url });
    expect(await fleet.end(id)).toEqual(["Failed", `DOWNLOAD_FAILED: "a.txt": ${url}: HTTP ${code}`]);
    expect(fleet.server.requests).toEqual(["GET /a.txt"]);
    await recovers(id);
  });

  test.each([
    ["429 with seconds", status(429, { "retry-after": "7" }), 7_000],
    ["503 with a date", status(503, { "retry-after": "Mon, 16 Nov 2026 00:00:09 GMT" }), 9_000],
  ])("%s is obeyed", async (_what, refusal, pauseMs) => {
    await start({ egress: { nowMs: () => Date.parse("2026-11-16T00:00:00Z"), ...onlyLoopback } });
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", refusal, content("hello")) });
    expect(await fleet.end(id)).toEqual(DONE);
    expect(fleet.pauses).toEqual([pauseMs]);
  });

  test("503 for longer than we wait at a file puts the job back for that long", async () => {
    await start();
    const url = fleet.server.on("/a.txt", status(503, { "retry-after": "3600" }));
    const id = await fleet.submit({ payload_url: url });
    const history = await waited(id);
    expect(history).toMatchObject({ attempts: 1, not_before: 3_600_000, why: has(`${url}: HTTP 503`) });
    expect([fleet.server.requests, fleet.pauses]).toEqual([["GET /a.txt"], []]);
  });

  test("500 without end fails the job after its attempts", async () => {
    await start();
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", status(500)) });
    expect(await fleet.end(id)).toEqual(["Failed", has("DOWNLOAD_FAILED: given up after 3 attempts")]);
    expect(fleet.server.requests).toHaveLength(6);
    await recovers(id);
  });
});

/** The job as it waits in Downloading for its time. */
async function waited(id: Awaited<ReturnType<RunningDownloader["submit"]>>): Promise<unknown> {
  return waitFor(async () => {
    const { history, lock } = await fleet.view(id);
    return lock === null && history?.why !== undefined && history;
  });
}

test("F19: a size that was estimated wrong is corrected, and the job goes on", async () => {
  await start();
  const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", content("hello")) }, 1);
  expect(await fleet.end(id)).toEqual(DONE);
  expect((await fleet.view(id)).spaceNeeded).toBe(5);
});

describe("F20: a body that breaks off", () => {
  const whole = "0123456789".repeat(10);
  const job = { digest_type: "sha256", digest_value: sha256(whole) };
  const impatient = { egress: { idleTimeoutMs: 400, ...onlyLoopback } };

  test("goes on by Range where it is surely the same", async () => {
    await start(impatient);
    const url = fleet.server.on("/a.txt", ranged(whole, '"v1"', 30), ranged(whole, '"v1"'));
    const id = await fleet.submit({ payload_url: url, ...job });
    expect(await fleet.end(id)).toEqual(DONE);
    expect(fleet.server.headers.map(({ range }) => range)).toEqual([undefined, "bytes=30-"]);
    expect(await fleet.files(id)).toEqual({ "producer/a.txt": whole });
  });

  const changed = "abcdefghij".repeat(10);
  /** Sends the rest of another file, whatever was asked for. */
  const careless: RequestListener = (_request, response) => {
    response.writeHead(206, { etag: '"v2"', "content-range": "bytes 30-99/100", "content-length": 70 });
    response.end(changed.slice(30));
  };

  test.each([
    ["and the server says so", [ranged(changed, '"v2"')]],
    ["and the server sends the rest of the other file", [careless, content(changed)]],
  ])("starts over when the ETag has changed %s: never a file of two halves", async (_how, then) => {
    await start({ ...impatient, tries: 3 });
    const url = fleet.server.on("/a.txt", ranged(whole, '"v1"', 30), ...then);
    const id = await fleet.submit({ payload_url: url });
    expect(await fleet.end(id)).toEqual(DONE);
    expect(fleet.server.headers[1]).toMatchObject({ range: "bytes=30-", "if-range": '"v1"' });
    expect(await fleet.files(id)).toEqual({ "producer/a.txt": changed });
  });

  test.each(["abc", "abcdefgh"])("or has another length than announced (%s) fails the job", async (body) => {
    await start();
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", content(body)), payload_size: 5 });
    expect(await fleet.end(id)).toEqual(["Failed", has('SIZE_MISMATCH: "a.txt"')]);
    expect(await fleet.files(id)).toEqual({});
    await recovers(id);
  });
});

test("F21: a wrong digest fails the job, the file is kept aside and never counted", async () => {
  await start();
  const job = { digest_type: "sha-256", digest_value: sha256("hello") };
  const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", content("evil!")), ...job });
  expect(await fleet.end(id)).toEqual(["Failed", has(`sha256 is ${sha256("evil!")} instead of ${sha256("hello")}`)]);
  expect(await fleet.files(id)).toEqual({ "rejected/a.txt": "evil!" });
  expect((await fleet.view(id)).history?.files ?? null).toBeNull();
  await recovers(id);
});

test("F21: md2 is refused with a clear error, before anything is fetched", async () => {
  await start();
  const url = fleet.server.on("/a.txt", content("hello"));
  const id = await fleet.submit({ payload_url: url, digest_type: "md2", digest_value: "0".repeat(32) });
  expect(await fleet.end(id)).toEqual(["Failed", has("DIGEST_UNSUPPORTED: ")]);
  expect((await fleet.end(id))[1]).toContain("md2");
  expect(fleet.server.requests).toEqual([]);
});

test("F22: an endless body is cut off far above the estimate, and nothing of it stays", async () => {
  await start();
  const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", endless) }, 200);
  expect(await fleet.end(id)).toEqual(["Failed", has("more than 2000 bytes")]);
  expect(await fleet.files(id)).toEqual({});
  await recovers(id);
});

describe("F23: a host that is slow", () => {
  test.each([
    ["falls silent", stalling, { idleTimeoutMs: 300 }, "no answer in time"],
    ["drips without end", dripping, { totalTimeoutMs: 700 }, "not finished in time"],
  ])("and %s is left at its deadline, and others go on meanwhile", async (_how, behaviour, limit, words) => {
    await start({ tries: 1, attemptsMax: 2, egress: { ...limit, ...onlyLoopback } });
    const slow = await fleet.submit({ payload_url: fleet.server.on("/a.txt", behaviour) });
    const other = await fleet.submit({ payload_url: fleet.server.on("/b.txt", content("other")) });
    expect(await fleet.end(other)).toEqual(DONE);
    expect(await fleet.end(slow)).toEqual(["Failed", has(words)]);
    expect(fleet.server.requests.filter((line) => line === "GET /a.txt")).toHaveLength(2);
    expect(await fleet.files(slow)).toEqual({});
    await recovers(slow);
  });
});

describe("F24: a redirect", () => {
  test("in a circle fails the job", async () => {
    await start();
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", redirect("/a.txt")) });
    expect(await fleet.end(id)).toEqual(["Failed", has("DOWNLOAD_FAILED: ")]);
    expect((await fleet.end(id))[1]).toContain("redirected more than 5 times");
    expect(fleet.server.requests).toHaveLength(6);
    await recovers(id);
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/a",
    "http://[::1]/a",
    "http://2130706433/a",
    "file:///etc/passwd",
    "ftp://example.org/a",
  ])("to %s is refused", async (goal) => {
    await start();
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", redirect("/b"), content("")) });
    fleet.server.on("/b", redirect(goal));
    expect(await fleet.end(id)).toEqual(["Failed", has('URL_REFUSED: "a.txt": ')]);
    expect(await fleet.files(id)).toEqual({});
    await recovers(id);
  });

  test("to our own ZooKeeper is refused", async () => {
    await start();
    const zookeeper = /:(\d+)/.exec(fleet.connect)?.[1] ?? "";
    const goal = redirect(`http://127.0.0.1:${zookeeper}/`);
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", goal) });
    expect(await fleet.end(id)).toEqual(["Failed", has("URL_REFUSED: ")]);
  });
});

describe("F25: a compressed answer that nobody asked for", () => {
  const bomb = gzipSync(Buffer.alloc(5_000_000));
  const packed = content(bomb, { "content-encoding": "gzip" });

  test("is never inflated: its own bytes are what is stored", async () => {
    await start();
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", packed) }, bomb.length);
    expect(await fleet.end(id)).toEqual(DONE);
    expect(await fleet.files(id)).toEqual({ "producer/a.txt": bomb.toString("latin1") });
    expect(fleet.server.headers[0]).toMatchObject({ "accept-encoding": "identity" });
  });

  test("is another file than the digest says", async () => {
    await start();
    const digest = { digest_type: "sha256", digest_value: sha256("hello") };
    const answer = content(gzipSync("hello"), { "content-encoding": "gzip" });
    const id = await fleet.submit({ payload_url: fleet.server.on("/a.txt", answer), ...digest });
    expect(await fleet.end(id)).toEqual(["Failed", has("DIGEST_MISMATCH: ")]);
    await recovers(id);
  });
});
