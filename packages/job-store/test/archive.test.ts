import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { appendFile, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EndedRun } from "@sluice/job-queue";
import { Archive } from "../src/index.ts";

const DAY_MS = 24 * 3_600_000;
const NOW = Date.parse("2026-11-16T13:00:00Z");

let folder: string;
let bad: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-archive-"));
  bad = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (writer = "api-1", fileBytes?: number): Archive =>
  new Archive({
    folder,
    writer,
    onBadLine: (file, line) => bad.push(`${file}: ${line}`),
    ...(fileBytes === undefined ? {} : { fileBytes }),
  });

const run = (id: number, token: string, ended: number, result = "done"): EndedRun => ({
  id,
  token,
  done: { name: "resize", tenant: "default", exit: 200, result, created: 1, started: 2, ended },
});

const ids = (runs: readonly EndedRun[]): readonly string[] => runs.map(({ id, token }) => `${id}-${token}`);

/** Page by page. */
async function everything(archive: Archive, shard: number, limit: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await archive.list(shard, after, limit);
    found.push(...ids(page.runs));
    if (page.next === null) return found;
    after = page.next;
  }
}

describe("the archive", () => {
  test("gives back a job's runs, whole, also to another process", async () => {
    await open().keep(0, [run(1, "1.1", 10), run(2, "1.2", 11)]);
    await open().keep(0, [run(1, "1.7", 20, "a\nb|c ü")]);
    expect(await open("api-2").runsOf(1)).toEqual([run(1, "1.7", 20, "a\nb|c ü"), run(1, "1.1", 10)]);
    expect(await open().runsOf(3)).toEqual([]);
    expect(await readdir(join(folder, "00"))).toEqual(["0.api-1.0.jsonl"]);
  });

  test("counts a run once that was handed over twice, by two owners too", async () => {
    const runs = [run(1, "1.1", 10), run(1, "1.2", 11)];
    await open("api-1").keep(0, runs);
    await Promise.all([open("api-1").keep(0, runs), open("api-2").keep(0, runs)]);
    expect(ids(await open().runsOf(1))).toEqual(["1-1.2", "1-1.1"]);
    expect(await everything(open(), 0, 1)).toEqual(["1-1.2", "1-1.1"]);
  });

  test("lists newest blocks first, and in a block what ended last, page by page without loss or repetition", async () => {
    const archive = open();
    // Blocks 0, 16 and 32 of shard 0.
    const runs = [
      run(1, "1.1", 50),
      run(2, "1.2", 90),
      run(16_001, "1.3", 70),
      run(32_001, "2.1", 60),
      run(1, "1.9", 95),
    ];
    await archive.keep(0, runs);
    await archive.keep(3, [run(3001, "1.1", 1)]);
    const newest = ["32001-2.1", "16001-1.3", "1-1.9", "2-1.2", "1-1.1"];
    for (const limit of [1, 2, 3, 100]) expect(await everything(archive, 0, limit)).toEqual(newest);
    expect(await everything(archive, 5, 10)).toEqual([]);
    expect(await archive.list(0, "no key", 10)).toEqual({ runs: [], next: null });
  });

  test("a line that was torn is told and left out, and does not spoil what comes after it", async () => {
    await open().keep(0, [run(1, "1.1", 10)]);
    await appendFile(join(folder, "00", "0.api-1.0.jsonl"), '{"id":2,"tok');
    expect(ids(await open().runsOf(1))).toEqual(["1-1.1"]);
    await open().keep(0, [run(3, "1.3", 12)]);
    expect([ids(await open().runsOf(3)), bad.at(-1)]).toEqual([["3-1.3"], '0.api-1.0.jsonl: {"id":2,"tok']);
  });

  test("begins a new file when one is large, and finds what is in both", async () => {
    const archive = open("api-1", 300);
    for (let n = 1; n <= 8; n++) await archive.keep(0, [run(1, `1.${n}`, n)]);
    expect((await readdir(join(folder, "00"))).length).toBeGreaterThan(1);
    expect((await archive.runsOf(1)).map(({ done }) => done.ended)).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("purges files that nobody has written to for their retention", async () => {
    const archive = open();
    await archive.keep(0, [run(1, "1.1", 10), run(16_001, "1.2", 11)]);
    const at = (daysAgo: number): number => (NOW - daysAgo * DAY_MS) / 1000;
    await utimes(join(folder, "00", "0.api-1.0.jsonl"), at(15), at(15));
    await utimes(join(folder, "00", "16.api-1.0.jsonl"), at(13), at(13));
    expect(await archive.purge(NOW)).toBe(1);
    expect(await everything(archive, 0, 10)).toEqual(["16001-1.2"]);
  });

  test("names the blobs of its runs, as it grows and as it is purged", async () => {
    const archive = open();
    const [one, two] = ["a".repeat(64), "b".repeat(64)];
    const large = (id: number, sha256: string): EndedRun => ({
      id,
      token: "1.1",
      done: { name: "n", tenant: "default", created: 1, ended: 2, resultRef: { sha256, bytes: 70_000 } },
    });
    await archive.keep(0, [large(1, one)]);
    expect(await archive.namedBlobs()).toEqual(new Set([one]));
    await archive.keep(0, [large(2, two)]);
    expect(await archive.namedBlobs()).toEqual(new Set([one, two]));
    expect(await archive.purge(Date.now() + 30 * DAY_MS)).toBe(1);
    expect(await archive.namedBlobs()).toEqual(new Set());
  });

  test("is not written under a name that is no name of a file", () => {
    expect(() => open("../api")).toThrow("cannot stand in the name of a file");
  });
});
