import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  appendFile,
  mkdir,
  mkdtemp,
  open as openFile,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EndedRun, RunsAsked } from "@sluice/job-queue";
import { Archive } from "../src/index.ts";

const DAY_MS = 24 * 3_600_000;
const NOW = Date.parse("2026-11-16T13:00:00Z");

let folder: string;
let bad: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-archive-"));
  bad = [];
  now = NOW;
});
afterEach(() => rm(folder, { recursive: true, force: true }));

let now: number;
const open = (writer = "api-1", segmentBytes?: number): Archive =>
  new Archive({
    folder,
    writer,
    nowMs: () => (now += 1),
    onBadLine: (file, line) => bad.push(`${file}: ${line}`),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
  });

const run = (id: number, token: string, ended: number, result = "done"): EndedRun => ({
  id,
  token,
  done: { name: "resize", tenant: "default", exit: 200, result, created: 1, started: 2, ended },
});

const ids = (runs: readonly EndedRun[]): readonly string[] => runs.map(({ id, token }) => `${id}-${token}`);

const ASKED = { tenant: "default", names: null, since: "", after: null, limit: 50 } as const;

/** Page by page. */
async function everything(archive: Archive, shard: number, asked: Partial<RunsAsked> = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ;) {
    const page = await archive.list(shard, { ...ASKED, ...asked, after });
    found.push(...ids(page.runs.map((kept) => kept.run)));
    if (page.next === null) return found;
    after = page.next;
  }
}

/** Of a shard's folder, without the days'. */
async function files(shard = "00"): Promise<readonly string[]> {
  const names = await readdir(join(folder, shard), { recursive: true });
  return names.filter((name) => name.includes(".")).sort();
}

describe("the archive", () => {
  test("gives back a job's runs, whole, also to another process", async () => {
    await open().keep(0, [run(1, "1.1", 10), run(2, "1.2", 11)], false);
    await open().keep(0, [run(1, "1.7", 20, "a\nb|c ü")], false);
    expect(await open("api-2").runsOf(1, 50)).toEqual([run(1, "1.7", 20, "a\nb|c ü"), run(1, "1.1", 10)]);
    expect(ids(await open("api-2").runsOf(1, 1))).toEqual(["1-1.7"]);
    expect(await open().runsOf(3, 50)).toEqual([]);
    expect((await files()).length).toBe(2);
  });

  test("keeps once what a dead owner had kept already, torn end or not", async () => {
    const runs = [run(1, "1.1", 10), run(1, "1.2", 11)];
    await open("api-1").keep(0, runs, false);
    const [name = ""] = await files();
    await appendFile(join(folder, "00", name), '{"id":2,"tok');
    await open("api-2").keep(0, [...runs, run(2, "1.3", 12)], true);
    expect(ids(await open().runsOf(1, 50))).toEqual(["1-1.2", "1-1.1"]);
    expect(await everything(open(), 0, { limit: 1 })).toEqual(["2-1.3", "1-1.2", "1-1.1"]);
    // What is torn is no line: somebody may still be writing it.
    expect(bad).toEqual([]);
  });

  test.each([300, 1e9])(
    "lists what was kept last first, page by page, by tenant and type (segments of %i bytes)",
    async (bytes) => {
      const archive = open("api-1", bytes);
      const all = Array.from({ length: 12 }, (_, n) => run(n + 1, `1.${n + 1}`, n));
      const others = all.map((each, n) => ({
        ...each,
        done: { ...each.done, name: n % 3 === 0 ? "scan" : "resize", tenant: n % 4 === 0 ? "acme" : "default" },
      }));
      for (const each of others) await archive.keep(0, [each], false);
      await archive.keep(3, [run(3001, "1.1", 1)], false);
      const wanted = (is: (each: EndedRun) => boolean): readonly string[] => ids(others.filter(is).reverse());
      for (const reader of [archive, open("api-2")])
        for (const limit of [1, 2, 5, 100]) {
          expect(await everything(reader, 0, { limit })).toEqual(wanted(({ done }) => done.tenant === "default"));
          expect(await everything(reader, 0, { limit, tenant: "acme", names: ["scan"] })).toEqual(
            wanted(({ done }) => done.tenant === "acme" && done.name === "scan"),
          );
          expect(await everything(reader, 0, { limit, names: ["scan", "resize"] })).toEqual(
            wanted(({ done }) => done.tenant === "default"),
          );
          expect(await everything(reader, 0, { limit, names: ["none"] })).toEqual([]);
        }
      expect(await everything(archive, 5)).toEqual([]);
      expect(await archive.list(0, { ...ASKED, after: "no place" })).toEqual({ runs: [], next: null });
      expect(await archive.list(0, { ...ASKED, after: "2026-11-16/1.../../x:1" })).toEqual({ runs: [], next: null });
    },
  );

  test("a job is found in any segment, by its index or without one", async () => {
    const archive = open("api-1", 400);
    for (let n = 1; n <= 40; n++) await archive.keep(0, [run(1 + (n % 4), `1.${n}`, n)], false);
    expect((await files()).filter((name) => name.endsWith(".index")).length).toBeGreaterThan(5);
    const fours = ["1-1.40", "1-1.36", "1-1.32", "1-1.28", "1-1.24", "1-1.20", "1-1.16", "1-1.12", "1-1.8", "1-1.4"];
    expect(ids(await archive.runsOf(1, 50))).toEqual(fours);
    for (const name of await files()) if (name.endsWith(".index")) await truncate(join(folder, "00", name), 20);
    expect(ids(await open("api-2").runsOf(1, 50))).toEqual(fours);
    expect(await everything(open("api-2"), 0, { limit: 7 })).toHaveLength(40);
  });

  test("a large index is searched, not read: each job and each type among many is found", async () => {
    const archive = open("api-1", 1);
    // Every second id of blocks 0, 16, 32 and so on, all of shard 0.
    const idOf = (n: number): number => 16_000 * Math.floor(n / 500) + 2 * (n % 500) + 1;
    const many = Array.from({ length: 5_000 }, (_, n) => ({
      ...run(idOf(n), `1.${n}`, n),
      done: { ...run(1, "1.1", n).done, name: `type-${n % 700}` },
    }));
    await archive.keep(0, many, false);
    await archive.keep(0, [run(320_001, "2.1", 6_000)], false);
    const reader = open("api-2");
    for (const n of [0, 1, 255, 256, 2_499, 4_743, 4_999])
      expect(ids(await reader.runsOf(idOf(n), 50))).toEqual([`${idOf(n)}-1.${n}`]);
    expect(await reader.runsOf(2, 50)).toEqual([]);
    for (const n of [0, 1, 350, 699])
      expect(await everything(reader, 0, { names: [`type-${n}`], limit: 3 })).toEqual(
        ids(many.filter((each) => each.done.name === `type-${n}`).reverse()),
      );
    expect(await everything(reader, 0, { limit: 1_000 })).toHaveLength(5_001);
  });

  test("says what was kept since a moment", async () => {
    const archive = open();
    await archive.keep(0, [run(1, "1.1", 1)], false);
    const since = archive.head(0);
    await archive.keep(0, [run(2, "1.2", 2)], false);
    const { runs } = await archive.list(0, { ...ASKED, since });
    expect(runs.map((kept) => [kept.run.id, kept.isNews])).toEqual([
      [2, true],
      [1, false],
    ]);
  });

  test("reads what an earlier version kept by blocks of ids, after all else, and purges it", async () => {
    await mkdir(join(folder, "00"));
    const line = (each: EndedRun): string =>
      `{"id":${each.id},"token":"${each.token}","done":${JSON.stringify(each.done)}}\n`;
    await writeFile(
      join(folder, "00", "0.api-1.0.jsonl"),
      line(run(1, "1.1", 50)) + '{"id":2,"tok\n' + line(run(2, "1.2", 90)),
    );
    await writeFile(join(folder, "00", "16.api-1.0.jsonl"), line(run(16_001, "1.3", 70)));
    const archive = open();
    await archive.keep(0, [run(1, "1.9", 95)], false);
    for (const limit of [1, 2, 100])
      expect(await everything(archive, 0, { limit })).toEqual(["1-1.9", "16001-1.3", "2-1.2", "1-1.1"]);
    expect(ids(await archive.runsOf(1, 50))).toEqual(["1-1.9", "1-1.1"]);
    expect(new Set(bad)).toEqual(new Set(['0.api-1.0.jsonl: {"id":2,"tok']));
    expect(await archive.purge(Date.now() + 15 * DAY_MS)).toBe(2);
    expect(await everything(archive, 0)).toEqual(["1-1.9"]);
  });

  test("begins a new segment when one is full, and when the day is another", async () => {
    const archive = open("api-1", 300);
    for (let n = 1; n <= 8; n++) await archive.keep(0, [run(1, `1.${n}`, n)], false);
    const before = (await files()).length;
    now += DAY_MS;
    await archive.keep(0, [run(1, "1.9", 9)], false);
    expect((await files()).length).toBeGreaterThan(before);
    expect((await readdir(join(folder, "00"))).sort()).toEqual(["2026-11-16", "2026-11-17"]);
    expect((await archive.runsOf(1, 50)).map(({ done }) => done.ended)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test("purges segments that nobody has written to for their retention, and gives an index to what was left without one", async () => {
    await open("api-1").keep(0, [run(1, "1.1", 10)], false);
    await open("api-2").keep(0, [run(2, "1.2", 11)], false);
    const [first = "", second = ""] = await files();
    const at = (daysAgo: number): number => (NOW - daysAgo * DAY_MS) / 1000;
    await utimes(join(folder, "00", first), at(15), at(15));
    await utimes(join(folder, "00", second), at(13), at(13));
    const archive = open("api-3");
    expect(await archive.purge(NOW)).toBe(1);
    expect(await files()).toEqual([second.replace("jsonl", "index"), second]);
    expect(await everything(archive, 0)).toEqual(["2-1.2"]);
    await utimes(join(folder, "00", second), at(15), at(15));
    expect(await archive.purge(NOW)).toBe(1);
    expect(await readdir(join(folder, "00"))).toEqual([]);
    await archive.keep(0, [run(3, "1.3", 12)], false);
    expect(await everything(archive, 0)).toEqual(["3-1.3"]);
  });

  test("gives each of them one index when several purge at once, and leaves nothing of one who died while writing it", async () => {
    for (let writer = 1; writer <= 12; writer++)
      await open(`api-${writer}`).keep(0, [run(writer, `1.${writer}`, 10)], false);
    const at = (NOW - 13 * DAY_MS) / 1000;
    for (const name of await files()) await utimes(join(folder, "00", name), at, at);
    await Promise.all(["a", "b", "c"].map((writer) => open(writer).purge(NOW)));
    const names = await readdir(join(folder, "00", "2026-11-16"));
    expect(names.filter((name) => name.endsWith(".index")).length).toBe(12);
    expect(await everything(open("api-13"), 0)).toHaveLength(12);

    const [dead = ""] = names.filter((name) => name.endsWith(".index"));
    await writeFile(join(folder, "00", "2026-11-16", `${dead}.tmp`), "half");
    expect(await open("api-14").purge(NOW + 2 * DAY_MS)).toBe(12);
    expect(await readdir(join(folder, "00"))).toEqual([]);
  });

  test("what the disk did not take is told, and kept whole the next time", async () => {
    const archive = open();
    await archive.keep(0, [run(1, "1.1", 10)], false);
    const [name = ""] = await files();
    const path = join(folder, "00", name);
    await rename(path, `${path}.away`);
    await expect(archive.keep(0, [run(2, "1.2", 11)], false)).rejects.toThrow("ENOENT");
    await rename(`${path}.away`, path);
    await archive.keep(0, [run(2, "1.2", 11)], false);
    expect(await everything(archive, 0)).toEqual(["2-1.2", "1-1.1"]);
  });

  test("names the blobs of its runs, as it grows and as it is purged", async () => {
    const archive = open();
    const [one, two] = ["a".repeat(64), "b".repeat(64)];
    const large = (id: number, sha256: string): EndedRun => ({
      id,
      token: "1.1",
      done: { name: "n", tenant: "default", created: 1, ended: 2, resultRef: { sha256, bytes: 70_000 } },
    });
    await archive.keep(0, [large(1, one)], false);
    expect(await archive.namedBlobs()).toEqual(new Set([one]));
    await archive.keep(0, [large(2, two)], false);
    expect(await archive.namedBlobs()).toEqual(new Set([one, two]));
    expect(await open("api-2").purge(Date.now() + 30 * DAY_MS)).toBe(1);
    expect(await archive.namedBlobs()).toEqual(new Set());
  });

  describe("forgets jobs", () => {
    const bytesIn = async (): Promise<string> => {
      const all = await Promise.all((await files()).map((name) => readFile(join(folder, "00", name))));
      return Buffer.concat(all).toString("latin1");
    };

    test.each([
      ["in a segment that is written to", 1e9, false],
      ["in those that are complete", 400, false],
      ["in those that other processes left", 1e9, true],
    ])("%s, and leaves all others where they are", async (_, bytes, isLeft) => {
      const writer = open("api-1", bytes);
      for (let n = 1; n <= 12; n++)
        await writer.keep(0, [run(1 + (n % 3), `1.${n}`, n, `secret of ${1 + (n % 3)}`)], false);
      const archive = isLeft ? open("api-2") : writer;
      const others = (await everything(archive, 0)).filter((id) => !id.startsWith("2-"));
      await archive.forget(0, new Set([2, 9]));
      for (const reader of [archive, writer, open("api-3")]) {
        expect(await reader.runsOf(2, 50)).toEqual([]);
        for (const limit of [1, 3, 100]) expect(await everything(reader, 0, { limit })).toEqual(others);
      }
      expect(await bytesIn()).not.toContain("secret of 2");
      // Runs that come later are read where they stand.
      await archive.keep(0, [run(4, "1.13", 13)], false);
      expect(await everything(open("api-4"), 0)).toEqual(["4-1.13", ...others]);
      expect(bad).toEqual([]);
    });

    test("in files of an earlier version, and their blobs are named no more", async () => {
      await mkdir(join(folder, "00"));
      const sha256 = "c".repeat(64);
      const named = (id: number): string =>
        `{"id":${id},"token":"1.1","done":{"name":"n","tenant":"default","created":1,"ended":2,"resultRef":{"sha256":"${sha256}","bytes":9}}}\n`;
      await writeFile(join(folder, "00", "0.api-1.0.jsonl"), named(1) + named(2));
      const archive = open();
      expect(await archive.namedBlobs()).toEqual(new Set([sha256]));
      await archive.forget(0, new Set([1]));
      expect(await everything(archive, 0)).toEqual(["2-1.1"]);
      await archive.forget(0, new Set([2]));
      expect([await everything(archive, 0), await archive.namedBlobs()]).toEqual([[], new Set()]);
      expect(bad).toEqual([]);
    });

    test("again after a crash in the middle of a line; their files are purged when they would have been", async () => {
      const archive = open("api-1", 1);
      for (const id of [1, 2]) await archive.keep(0, [run(id, "1.1", id, "secret")], false);
      const path = join(
        folder,
        "00",
        (await files()).find((name) => name.endsWith(".jsonl"))!,
      );
      const handle = await openFile(path, "r+");
      await handle.write("     ", 0);
      await handle.close();
      await utimes(path, NOW / 1_000, NOW / 1_000);
      await open("api-2").forget(0, new Set([1]));
      expect((await readFile(path, "utf8")).trim()).toBe("");
      expect((await stat(path)).mtimeMs).toBe(NOW);
      expect(await everything(open("api-3"), 0)).toEqual(["2-1.1"]);
    });
  });

  test("is not written under a name that is no name of a file", () => {
    expect(() => open("../api")).toThrow("cannot stand in the name of a file");
  });
});
