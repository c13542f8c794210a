import { mkdtempSync } from "node:fs";
import { rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { batchId, FIRST_EPOCH, jobId } from "@sluice/queue-core";
import {
  type ClaimFolder,
  MANIFEST_FILE,
  beginContents,
  filesToFetch,
  openWorkingFolder,
  type PayloadConfiguration,
  payloadFiles,
  type PayloadItem,
} from "../src/index.ts";

const SHA256 = "2CF24DBA5FB0A30E26E83B2AC5B9E29E1B161E5C1FA7425E73043362938B9824";

let root: string;
let claim: ClaimFolder;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "payload-"));
  const made = await (
    await openWorkingFolder(root)
  ).claimFolder({ id: jobId(1), batchId: batchId(1), batchEpoch: FIRST_EPOCH }, { epoch: FIRST_EPOCH, token: 1 });
  if (!made.ok) throw new Error(made.error.message);
  claim = made.value;
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function items(configuration: PayloadConfiguration, kept: ClaimFolder | null = null): Promise<PayloadItem[]> {
  const found: PayloadItem[] = [];
  for await (const item of payloadFiles(configuration, kept)) found.push(item);
  return found;
}

const file = (more: Partial<PayloadConfiguration> = {}): PayloadConfiguration => ({
  payload_url: "https://example.org/a/b.pdf",
  payload_type: "file",
  ...more,
});

describe("a single file", () => {
  test("is described by the configuration", async () => {
    const configuration = file({
      payload_name: "thesis.pdf",
      payload_size: 5,
      digest_type: "SHA-256",
      digest_value: SHA256,
    });
    expect(await items(configuration)).toEqual([
      {
        ok: true,
        file: {
          name: "thesis.pdf",
          source: { kind: "url", url: "https://example.org/a/b.pdf" },
          size: 5,
          digest: { algorithm: "sha256", value: SHA256.toLowerCase() },
        },
      },
    ]);
  });

  test.each([
    ["https://example.org/a/b.pdf?sig=1", "b.pdf"],
    ["https://example.org/a/%C3%A9t%C3%A9.pdf", "été.pdf"],
    ["https://example.org/a/100%.pdf", "100%.pdf"],
    ["upload:c.pdf", "c.pdf"],
  ])("from %s is called %s when it has no name", async (payload_url, name) => {
    expect(await items(file({ payload_url }))).toMatchObject([{ ok: true, file: { name } }]);
  });

  test("that was uploaded is found by its upload's name", async () => {
    expect(await items(file({ payload_url: "upload:c.pdf", payload_name: "d.pdf" }))).toMatchObject([
      { ok: true, file: { name: "d.pdf", source: { kind: "upload", name: "c.pdf" } } },
    ]);
  });

  test("without any name is refused", async () => {
    const found = await items(file({ payload_url: "https://example.org/" }));
    expect(found).toMatchObject([{ ok: false, problem: { code: "NAME_REFUSED" } }]);
  });

  test("with a digest that nobody computes is refused in words", async () => {
    const found = await items(file({ digest_type: "md2", digest_value: "00" }));
    expect(found).toMatchObject([{ ok: false, problem: { code: "DIGEST_UNSUPPORTED" } }]);
    expect(JSON.stringify(found)).toContain("md2 is not supported");
  });
});

const HEAD = [
  "#%checkm_0.7",
  "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-ingest-manifest",
  "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName",
];

async function manifestOf(...lines: string[]): Promise<ClaimFolder> {
  await claim.top.write(MANIFEST_FILE, [...HEAD, ...lines].join("\n"));
  return claim;
}

describe("an object manifest", () => {
  const configuration = file({ payload_type: "manifest" });

  test("is its rows, in order", async () => {
    const kept = await manifestOf(
      `https://example.org/1 | sha256 | ${SHA256} | 5 | | x/one.txt`,
      "https://example.org/2 | | | | | two.txt",
      "#%eof",
    );
    expect(await items(configuration, kept)).toEqual([
      {
        ok: true,
        file: {
          name: "x/one.txt",
          source: { kind: "url", url: "https://example.org/1" },
          size: 5,
          digest: { algorithm: "sha256", value: SHA256.toLowerCase() },
        },
      },
      {
        ok: true,
        file: {
          name: "two.txt",
          source: { kind: "url", url: "https://example.org/2" },
          size: undefined,
          digest: undefined,
        },
      },
    ]);
  });

  test("with a row that cannot be fetched names the row", async () => {
    const noUrl = await items(configuration, await manifestOf(" | | | | | two.txt", "#%eof"));
    const noName = await items(configuration, await manifestOf("https://example.org/2", "#%eof"));
    expect(noUrl).toEqual([{ ok: false, problem: { code: "MANIFEST_CORRUPT", message: "row 1: no URL" } }]);
    expect(noName).toEqual([{ ok: false, problem: { code: "MANIFEST_CORRUPT", message: "row 1: no file name" } }]);
  });

  test("that breaks off ends with that problem", async () => {
    const found = await items(configuration, await manifestOf("https://example.org/2 | | | | | two.txt"));
    expect(found.map(({ ok }) => ok)).toEqual([true, false]);
    expect(found[1]).toMatchObject({ problem: { code: "MANIFEST_CORRUPT" } });
  });

  test("that was never kept, or is gone, is missing", async () => {
    for (const kept of [null, claim])
      expect(await items(configuration, kept)).toMatchObject([{ ok: false, problem: { code: "FILES_MISSING" } }]);
  });

  test("that is a link is not read", async () => {
    await symlink("/etc/hostname", join(claim.top.root, MANIFEST_FILE));
    await expect(items(configuration, claim)).rejects.toMatchObject({ fault: { code: "LINK_REFUSED" } });
  });
});

describe("a container", () => {
  const configuration = file({ payload_url: "https://example.org/a.zip", payload_type: "container", payload_size: 9 });

  test("is one file to fetch, whatever was kept", async () => {
    const found = [];
    for await (const item of filesToFetch(configuration, claim)) found.push(item);
    const source = { kind: "url", url: "https://example.org/a.zip" };
    expect(found).toEqual([{ ok: true, file: { name: "a.zip", source, size: 9, digest: undefined } }]);
  });

  test("is, once unpacked, the files that were in it", async () => {
    const list = await beginContents(claim);
    if (!list.ok) throw new Error(list.error.message);
    const names = ["a.txt", "line\u2028separator", 'quote".txt', "שלום"];
    for (const name of names) await list.value.add({ name, bytes: 5, sha256: SHA256.toLowerCase() });
    expect(await items(configuration, claim)).toMatchObject([{ ok: false }]); // not before all of it is there
    await list.value.finish();
    const digest = { algorithm: "sha256", value: SHA256.toLowerCase() };
    expect(await items(configuration, claim)).toEqual(
      names.map((name) => ({ ok: true, file: { name, source: { kind: "container" }, size: 5, digest } })),
    );
  });

  test.each(["{", '{"name":"a"}', '{"name":"a","bytes":5,"sha256":"00"}\n[]'])(
    "whose list of contents is damaged (%s) is missing",
    async (text) => {
      await claim.top.write("contents.jsonl", text);
      expect((await items(configuration, claim)).at(-1)).toMatchObject({ problem: { code: "FILES_MISSING" } });
    },
  );

  test("that was never unpacked is missing", async () => {
    expect(await items(configuration, null)).toMatchObject([{ ok: false, problem: { code: "FILES_MISSING" } }]);
  });
});

test.each([["single-file-batch-manifest"], ["tarball"]])("a payload of type %s is refused by name", async (type) => {
  const found = await items(file({ payload_type: type }));
  expect(found).toMatchObject([{ ok: false, problem: { code: "UNSUPPORTED_TYPE" } }]);
  expect(JSON.stringify(found)).toContain(type);
});
