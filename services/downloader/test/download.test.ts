import { createHash } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { content, endless, stalling, status, truncated } from "./content-server.ts";
import { BID, openWorkbench, type Workbench } from "./workbench.ts";

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const getsOf = (path: string): number => bench.server.requests.filter((line) => line === `GET ${path}`).length;

async function keepManifest(token: number, ...rows: string[]): Promise<void> {
  const head = "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest";
  await bench.put(`.claim-${token}/manifest.checkm`, [head, ...rows, "#%eof"].join("\n"));
}

const row = (url: string, name: string, digest = "", size = ""): string =>
  `${url} | ${digest === "" ? "" : "sha256"} | ${digest} | ${size} | | ${name}`;

describe("a single file", () => {
  test("comes under its name, and what it needs is corrected", async () => {
    const url = bench.server.on("/a.txt", content("hello"));
    const outcome = await bench.run(
      { payload_url: url, payload_name: "greeting.txt", digest_type: "sha-256", digest_value: sha256("hello") },
      { spaceNeeded: 3 },
    );
    expect(outcome).toEqual({ kind: "done", changes: { keepFiles: true, spaceNeeded: 5 } });
    expect(await bench.list()).toEqual([".claim-5/producer/greeting.txt"]);
    expect(await bench.read(".claim-5/producer/greeting.txt")).toBe("hello");
    expect(bench.shown.at(-1)).toEqual({ doneBytes: 5, totalBytes: 5, note: "1 files here" });
    expect(bench.files).toEqual([{ kind: "got", bytes: 5 }]);
  });

  test.each(["a b+c%.txt", "שלום 😀.txt", "e\u0301 and \u00e9.txt", "%2e%2e", "x".repeat(255)])(
    "keeps the name %s to the byte",
    async (name) => {
      const url = bench.server.on("/a", content("x"));
      expect(await bench.run({ payload_url: url, payload_name: name })).toMatchObject({ kind: "done" });
      expect(await bench.list()).toEqual([`.claim-5/producer/${name}`]);
    },
  );

  test.each(["../../../../out.txt", "/tmp/out.txt", "a/../../b", "..", "a\0b", "x".repeat(300), "a\\b"])(
    "with the name %j is refused and written nowhere",
    async (name) => {
      const url = bench.server.on("/a", content("x"));
      expect(await bench.run({ payload_url: url, payload_name: name })).toMatchObject({
        kind: "fail",
        code: "NAME_REFUSED",
      });
      expect(await bench.list()).toEqual([]);
    },
  );

  test("that was uploaded is copied from its batch's folder", async () => {
    await mkdir(join(bench.root, BID, "uploads"), { recursive: true });
    await writeFile(join(bench.root, BID, "uploads", "u.txt"), "uploaded");
    const job = { payload_url: "upload:u.txt", digest_type: "sha256", digest_value: sha256("uploaded") };
    expect(await bench.run(job)).toEqual({ kind: "done", changes: { keepFiles: true, spaceNeeded: 8 } });
    expect(await bench.read(".claim-5/producer/u.txt")).toBe("uploaded");
    const wrong = { ...job, digest_value: sha256("other") };
    expect(await bench.run(wrong, { token: 6 })).toMatchObject({ kind: "fail", code: "DIGEST_MISMATCH" });
    expect(await bench.list()).toEqual([".claim-5/producer/u.txt", ".claim-6/rejected/u.txt"]);
  });

  test("uploaded elsewhere is not reached", async () => {
    await writeFile(join(bench.root, "secret.txt"), "secret");
    const outcome = await bench.run({ payload_url: "upload:../../secret.txt", payload_name: "a.txt" });
    expect(outcome).toMatchObject({ kind: "fail", code: "NAME_REFUSED" });
    expect(await bench.list()).toEqual([]);
  });
});

describe("an object manifest", () => {
  test("brings every file into its folder, and moves along with them", async () => {
    const one = bench.server.on("/1", content("one"));
    const two = bench.server.on("/2", content("three"));
    await keepManifest(2, row(one, "x/one.txt", sha256("one"), "3"), row(two, "two.txt"));
    const outcome = await bench.run({ payload_type: "manifest" }, { files: 2 });
    expect(outcome).toEqual({ kind: "done", changes: { keepFiles: true, spaceNeeded: 8 } });
    expect(await bench.list()).toEqual([
      ".claim-2/manifest.checkm",
      ".claim-5/manifest.checkm",
      ".claim-5/producer/two.txt",
      ".claim-5/producer/x/one.txt",
    ]);
    expect(await bench.read(".claim-5/manifest.checkm")).toBe(await bench.read(".claim-2/manifest.checkm"));
  });

  test("that was not kept fails the job with the reason", async () => {
    expect(await bench.run({ payload_type: "manifest" })).toMatchObject({ kind: "fail", code: "FILES_MISSING" });
    expect(await bench.run({ payload_type: "manifest" }, { files: 2 })).toMatchObject({ code: "FILES_MISSING" });
  });

  test("is found after a restore, when tokens begin at 0 again: it is of an earlier epoch, however high its token", async () => {
    await keepManifest(40, row(bench.server.on("/1", content("one")), "one.txt", sha256("one")));
    const outcome = await bench.run({ payload_type: "manifest" }, { files: 40, token: 1, epoch: 20 });
    expect(outcome).toEqual({ kind: "done", changes: { keepFiles: true, spaceNeeded: 3 } });
    expect(await bench.list()).toEqual([
      ".claim-20-1/manifest.checkm",
      ".claim-20-1/producer/one.txt",
      ".claim-40/manifest.checkm",
    ]);
  });

  test("is not taken from a claim of the same token in another epoch, and its files do not get mixed up", async () => {
    await keepManifest(5, row(bench.server.on("/1", content("one")), "one.txt"));
    await bench.put(".claim-30-5/manifest.checkm", "of a history that the tree does not know");
    await bench.put(".claim-30-5/producer/other.txt", "other");
    const outcome = await bench.run({ payload_type: "manifest" }, { files: 5, token: 5, epoch: 40 });
    expect(outcome).toMatchObject({ kind: "done" });
    expect(await bench.list()).toEqual([
      ".claim-40-5/manifest.checkm",
      ".claim-40-5/producer/one.txt",
      ".claim-5/manifest.checkm",
    ]);
  });

  test("with one file that is gone stops at once, and a stalled one with it", async () => {
    const gone = bench.server.on("/gone", status(404));
    const slow = bench.server.on("/slow", stalling);
    await keepManifest(2, row(slow, "slow.txt"), row(gone, "gone.txt"));
    const outcome = await bench.run({ payload_type: "manifest" }, { files: 2 });
    expect(outcome).toMatchObject({ kind: "fail", code: "DOWNLOAD_FAILED" });
    expect(outcome).toMatchObject({ message: `"gone.txt": ${gone}: HTTP 404` });
    expect(await bench.list()).toEqual([".claim-2/manifest.checkm"]);
  });
});

describe("a file that is not to be had", () => {
  test.each([404, 410, 401, 403])("because of HTTP %d fails the job, without another try", async (code) => {
    const url = bench.server.on("/a.txt", status(code));
    const outcome = await bench.run({ payload_url: url });
    expect(outcome).toEqual({ kind: "fail", code: "DOWNLOAD_FAILED", message: `"a.txt": ${url}: HTTP ${code}` });
    expect(getsOf("/a.txt")).toBe(1);
  });

  test.each([429, 500, 503])("because of HTTP %d is tried again here, then later", async (code) => {
    const url = bench.server.on("/a.txt", status(code, { "retry-after": "7" }));
    const outcome = await bench.run({ payload_url: url });
    expect(outcome).toMatchObject({ kind: "retry", code: "DOWNLOAD_FAILED", delayMs: 7_000 });
    expect(getsOf("/a.txt")).toBe(4);
  });

  test("because nobody listens is tried again", async () => {
    const outcome = await bench.run({ payload_url: "http://127.0.0.1:1/a.txt" });
    expect(outcome).toMatchObject({ kind: "retry", code: "DOWNLOAD_FAILED" });
    expect(outcome).toMatchObject({ message: expect.stringContaining('"a.txt"') as unknown });
  });

  test.each([
    "http://169.254.169.254/latest/meta-data",
    "file:///etc/passwd",
    "http://10.0.0.1/a",
    "http://u:p@host/a",
  ])("because %s may not be asked fails the job", async (url) => {
    const outcome = await bench.run({ payload_url: url, payload_name: "a.txt" });
    expect(outcome).toMatchObject({ kind: "fail", code: "URL_REFUSED" });
    expect(JSON.stringify(outcome)).not.toContain("u:p");
  });

  test("never shows the query string, which may be a signature", async () => {
    const url = bench.server.on("/a.txt", status(403));
    const outcome = await bench.run({ payload_url: `${url}?signature=geheim` });
    expect(JSON.stringify(outcome)).not.toContain("geheim");
  });
});

describe("a file that is not what it should be", () => {
  test("by digest fails the job with both digests, and is kept aside", async () => {
    const url = bench.server.on("/a.txt", content("evil"));
    const job = { payload_url: url, digest_type: "SHA-256", digest_value: sha256("good") };
    const outcome = await bench.run(job);
    expect(outcome).toMatchObject({ kind: "fail", code: "DIGEST_MISMATCH" });
    expect(outcome).toMatchObject({ message: expect.stringContaining(sha256("evil")) as unknown });
    expect(await bench.list()).toEqual([".claim-5/rejected/a.txt"]);
    expect(await bench.read(".claim-5/rejected/a.txt")).toBe("evil");
    bench.server.on("/a.txt", content("good"));
    expect(await bench.run(job, { token: 6 })).toMatchObject({ kind: "done", changes: { spaceNeeded: 4 } });
    expect(await bench.list()).toEqual([".claim-6/producer/a.txt"]);
  });

  test.each([
    ["shorter", "abc"],
    ["longer", "abcdefgh"],
  ])("because it is %s fails the job", async (_how, body) => {
    const url = bench.server.on("/a.txt", content(body));
    expect(await bench.run({ payload_url: url, payload_size: 5 })).toMatchObject({
      kind: "fail",
      code: "SIZE_MISMATCH",
    });
    expect(await bench.list()).toEqual([]);
  });

  test("because it never ends is cut off at a multiple of the estimate", async () => {
    const url = bench.server.on("/a.txt", endless);
    const outcome = await bench.run({ payload_url: url }, { spaceNeeded: 200 });
    expect(outcome).toMatchObject({ kind: "fail", code: "DOWNLOAD_FAILED" });
    expect(outcome).toMatchObject({ message: expect.stringContaining("more than 2000 bytes") as unknown });
    expect(await bench.list()).toEqual([]);
  });

  test("with a digest that nobody computes fails the job before anything is fetched", async () => {
    const url = bench.server.on("/a.txt", content("x"));
    const outcome = await bench.run({ payload_url: url, digest_type: "md2", digest_value: "00" });
    expect(outcome).toMatchObject({ kind: "fail", code: "DIGEST_UNSUPPORTED" });
    expect(bench.server.requests).toEqual([]);
  });
});

test("a transfer that breaks is mended within the attempt", async () => {
  const url = bench.server.on("/a.txt", truncated, content("whole"));
  const job = { payload_url: url, digest_type: "sha256", digest_value: sha256("whole") };
  expect(await bench.run(job)).toMatchObject({ kind: "done", changes: { spaceNeeded: 5 } });
  expect(getsOf("/a.txt")).toBe(2);
});

describe("run again", () => {
  test("by the same claim, it fetches nothing that is here and verified", async () => {
    const one = bench.server.on("/1", content("one"));
    await keepManifest(2, row(one, "one.txt", sha256("one")));
    const first = await bench.run({ payload_type: "manifest" }, { files: 2 });
    const tree = await bench.list();
    expect(await bench.run({ payload_type: "manifest" }, { files: 2 })).toEqual(first);
    expect(await bench.list()).toEqual(tree);
    expect(getsOf("/1")).toBe(1);
  });

  test("after a death, it takes over what is whole, fetches the rest, and clears away what is left", async () => {
    const urls = ["/1", "/2", "/3", "/4"].map((path) => bench.server.on(path, content(`body of ${path}`)));
    await keepManifest(2, ...urls.map((url, index) => row(url, `f/${index + 1}.txt`, sha256(`body of /${index + 1}`))));
    await bench.put(".claim-3/producer/f/1.txt", "body of /1");
    await bench.put(".claim-3/producer/f/2.txt", "body of");
    await bench.put(".claim-3/producer/f/.sluice-tmp-77", "body o");
    await bench.put(".claim-4/producer/f/3.txt", "body of /3");
    await bench.put(".claim-9/producer/f/4.txt", "body of /4");
    const outcome = await bench.run({ payload_type: "manifest" }, { files: 2 });
    expect(outcome).toEqual({ kind: "done", changes: { keepFiles: true, spaceNeeded: 40 } });
    expect(["/1", "/2", "/3", "/4"].map(getsOf)).toEqual([0, 1, 0, 1]);
    expect(await bench.list()).toEqual([
      ".claim-2/manifest.checkm",
      ".claim-5/manifest.checkm",
      ".claim-5/producer/f/1.txt",
      ".claim-5/producer/f/2.txt",
      ".claim-5/producer/f/3.txt",
      ".claim-5/producer/f/4.txt",
      ".claim-9/producer/f/4.txt",
    ]);
    expect(await bench.read(".claim-5/producer/f/2.txt")).toBe("body of /2");
  });

  test("it does not trust an earlier file that no digest proves", async () => {
    const url = bench.server.on("/a.txt", content("new"));
    await bench.put(".claim-3/producer/a.txt", "old");
    expect(await bench.run({ payload_url: url })).toMatchObject({ kind: "done" });
    expect(await bench.list()).toEqual([".claim-5/producer/a.txt"]);
    expect(await bench.read(".claim-5/producer/a.txt")).toBe("new");
  });

  test("after a failure that passed, it keeps what it had", async () => {
    const one = bench.server.on("/1", content("one"));
    const two = bench.server.on("/2", ...[1, 2, 3, 4].map(() => status(503)), content("two"));
    await keepManifest(2, row(one, "1.txt", sha256("one")), row(two, "2.txt", sha256("two")));
    expect(await bench.run({ payload_type: "manifest" }, { files: 2 })).toMatchObject({ kind: "retry" });
    expect(await bench.run({ payload_type: "manifest" }, { files: 2, token: 7 })).toMatchObject({ kind: "done" });
    expect(getsOf("/1")).toBe(1);
    expect((await bench.list()).filter((name) => name.includes("producer"))).toEqual([
      ".claim-7/producer/1.txt",
      ".claim-7/producer/2.txt",
    ]);
  });
});

describe("stopped by its worker", () => {
  test("it gives up the transfer and leaves no half file under its name", async () => {
    const stop = new AbortController();
    const url = bench.server.on("/a.txt", (request, response) => {
      stalling(request, response);
      stop.abort(new Error("stopped"));
    });
    await expect(bench.run({ payload_url: url }, {}, stop.signal)).rejects.toThrow("stopped");
    expect(await bench.list()).toEqual([]);
  });
});

describe("no room", () => {
  test("puts the job to sleep and is no attempt", async () => {
    const full = { code: "NO_SPACE", message: "a.txt: ENOSPC", retryable: true } as const;
    const other = await openWorkbench({ download: () => Promise.resolve({ ok: false, error: full }) });
    try {
      const outcome = await other.run({ payload_url: "http://127.0.0.1/a.txt" });
      expect(outcome).toEqual({
        kind: "snooze",
        delayMs: 60_000,
        why: 'no room on the working volume: "a.txt": a.txt: ENOSPC',
      });
    } finally {
      await other.close();
    }
  });
});

test("a body that ends too early is never kept", async () => {
  const url = bench.server.on("/a.txt", truncated);
  expect(await bench.run({ payload_url: url })).toMatchObject({ kind: "retry", code: "DOWNLOAD_FAILED" });
  expect(await bench.list()).toEqual([]);
});
