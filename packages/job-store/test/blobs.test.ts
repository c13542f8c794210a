import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { createHash } from "node:crypto";
import { mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { BLOB_BYTES, type Blobs, openBlobs } from "../src/index.ts";

const HOUR_MS = 3_600_000;
const NOW = Date.parse("2026-11-16T13:00:00Z");

let folder: string;
let blobs: Blobs;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-blobs-"));
  blobs = await openBlobs(folder, { nowMs: () => NOW });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");
const pathOf = (text: string): string => join(folder, sha256(text).slice(0, 2), sha256(text));
const written = (text: string, agoMs: number): Promise<void> =>
  utimes(pathOf(text), (NOW - agoMs) / 1000, (NOW - agoMs) / 1000);
const textOf = async (text: string): Promise<string | null> => {
  const found = await blobs.get({ sha256: sha256(text), bytes: text.length });
  return found === null ? null : found.toString();
};
const files = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true })).filter((e) => e.isFile()).map(({ name }) => name);
const nobody = (): Promise<ReadonlySet<string>> => Promise.resolve(new Set());

describe("a blob", () => {
  test("is named by its content, and read as it was put, whole or as a stream", async () => {
    const ref = await blobs.put(Buffer.from("large"));
    expect(ref).toEqual({ sha256: sha256("large"), bytes: 5 });
    expect(await textOf("large")).toBe("large");
    expect((await buffer((await blobs.open(ref))!)).toString()).toBe("large");
    expect([await blobs.get({ sha256: sha256("other"), bytes: 5 }), await textOf("other")]).toEqual([null, null]);
  });

  test("that comes as a stream is the same one, and there is one file of it", async () => {
    const ref = await blobs.putStream(Readable.from([Buffer.from("la"), Buffer.from("rge")]));
    expect(await blobs.put(Buffer.from("large"))).toEqual(ref);
    expect(await files()).toEqual([sha256("large")]);
  });

  test("that is too large is refused, and nothing is left of it", async () => {
    const large = Buffer.alloc(BLOB_BYTES.data + 1);
    await expect(blobs.put(large, BLOB_BYTES.data)).rejects.toMatchObject({ fault: { code: "TOO_LARGE" } });
    const halves = [large.subarray(0, 600_000), large.subarray(600_000)];
    await expect(blobs.putStream(Readable.from(halves), BLOB_BYTES.data)).rejects.toMatchObject({
      fault: { code: "TOO_LARGE" },
    });
    expect(await files()).toEqual([]);
    await expect(blobs.put(large)).resolves.toMatchObject({ bytes: large.length });
  });

  test("whose name leaves the folder is not looked for", async () => {
    await expect(blobs.get({ sha256: "../../etc/passwd", bytes: 1 })).rejects.toMatchObject({
      fault: { code: "NAME_REFUSED" },
    });
  });
});

describe("a sweep", () => {
  test("removes what nobody has named for an hour, and only that", async () => {
    for (const text of ["old", "named", "young"]) await blobs.put(Buffer.from(text));
    await written("old", HOUR_MS + 1);
    await written("named", HOUR_MS + 1);
    await written("young", HOUR_MS - 1000);
    const named = (): Promise<ReadonlySet<string>> => Promise.resolve(new Set([sha256("named")]));
    expect(await blobs.sweep({ named })).toEqual({ removed: 1, kept: 2 });
    expect([await textOf("old"), await textOf("named"), await textOf("young")]).toEqual([null, "named", "young"]);
  });

  test("removes nothing when not everybody could be asked", async () => {
    await blobs.put(Buffer.from("old"));
    await written("old", HOUR_MS * 2);
    expect(await blobs.sweep({ named: () => Promise.resolve(null) })).toEqual({ removed: 0, kept: 1 });
    expect(await textOf("old")).toBe("old");
  });

  test("spares what is put again while it looks", async () => {
    await blobs.put(Buffer.from("again"));
    await written("again", HOUR_MS * 2);
    // The last moment: it has been judged, and is not moved yet.
    const failpoint = async (): Promise<void> => {
      await blobs.put(Buffer.from("again"));
      await written("again", 0);
    };
    expect(await blobs.sweep({ named: nobody, failpoint })).toEqual({ removed: 0, kept: 1 });
    expect(await textOf("again")).toBe("again");
  });

  test("that died over a blob costs nobody the blob: it is found, brought back and judged again", async () => {
    await blobs.put(Buffer.from("moved"));
    await written("moved", HOUR_MS * 2);
    await rename(pathOf("moved"), join(folder, "doomed", `${sha256("moved")}.dead`));
    expect(await textOf("moved")).toBe("moved");
    const named = (): Promise<ReadonlySet<string>> => Promise.resolve(new Set([sha256("moved")]));
    expect(await blobs.sweep({ named })).toEqual({ removed: 0, kept: 1 });
    expect(await readdir(join(folder, "doomed"))).toEqual([]);
    expect(await blobs.sweep({ named: nobody })).toEqual({ removed: 1, kept: 0 });
  });

  test("clears away what writers that died left unfinished", async () => {
    const unfinished = join(folder, ".sluice-tmp-1");
    await writeFile(unfinished, "half");
    await utimes(unfinished, NOW / 1000 - 7200, NOW / 1000 - 7200);
    await blobs.sweep({ named: nobody });
    expect(await files()).toEqual([]);
  });

  test("of two at once does no harm", async () => {
    const texts = Array.from({ length: 40 }, (_, n) => `text ${n}`);
    for (const text of texts) {
      await blobs.put(Buffer.from(text));
      await written(text, HOUR_MS * 2);
    }
    const even = new Set(texts.filter((_, n) => n % 2 === 0).map(sha256));
    const named = (): Promise<ReadonlySet<string>> => Promise.resolve(even);
    await Promise.all([blobs.sweep({ named }), blobs.sweep({ named })]);
    await blobs.sweep({ named });
    expect((await files()).sort()).toEqual([...even].sort());
  });
});
