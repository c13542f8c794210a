/** Goal: what was kept is read again, in order and from where a snapshot ends; a disk that fails holds nobody up. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { AppliedTransaction } from "@sluice/job-queue";
import { appendFile, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readRedo, type RedoOptions, RedoWriter } from "../src/index.ts";

const HOUR_MS = 3_600_000;
let root: string;
let folder: string;
let now: number;
let lost: (readonly [number, string])[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-redo-"));
  folder = join(root, "redo");
  now = Date.now();
  lost = [];
});
afterEach(() => rm(root, { recursive: true, force: true }));

const never = (): (() => void) => () => undefined;
const writer = (more: Partial<RedoOptions> = {}): RedoWriter =>
  new RedoWriter({
    folder,
    ...{ segmentBytes: 1_000_000, keepMs: 24 * HOUR_MS, maxBytes: 10_000_000, later: never },
    nowMs: () => now,
    epoch: () => 100,
    onLost: (transactions, why) => lost.push([transactions, why]),
    ...more,
  });

const transaction = (zxid: number, ops: AppliedTransaction["ops"], more: Partial<AppliedTransaction> = {}) => ({
  shard: 0,
  term: 1,
  number: zxid,
  zxid: BigInt(zxid),
  ops,
  ...more,
});
const put = (path: string, data: string | Buffer) =>
  ({ op: "set", path, data: Buffer.from(data), version: 0 }) as const;
const make = (path: string, data: string) => ({ op: "create", path, data: Buffer.from(data) }) as const;
const drop = (path: string) => ({ op: "delete", path, version: 0 }) as const;
const nodesOf = async (zxid: number, epoch = 100) => {
  const { shards, damaged } = await readRedo(folder, { epoch, zxid: BigInt(zxid) });
  const shown = (data: Buffer | null): string | null => data?.toString("latin1") ?? null;
  return {
    damaged,
    shards: shards.map(({ nodes, ...more }) => ({
      ...more,
      nodes: Object.fromEntries([...nodes].map(([path, data]) => [path, shown(data)])),
    })),
  };
};

describe("what owners wrote", () => {
  test("is read behind a transaction, each node as it was written last, by shard", async () => {
    const redo = writer();
    await Promise.all([
      redo.keep(transaction(1, [make("/a", "1"), make("/b", "1")])),
      redo.keep(transaction(2, [put("/a", "2")])),
      redo.keep(transaction(3, [drop("/b"), put("/c", Buffer.from([0xff, 0x00]))])),
      redo.keep(transaction(4, [make("/d", "4")], { shard: 3, number: 0 })),
    ]);
    await redo.close();
    expect(await nodesOf(1)).toEqual({
      damaged: [],
      shards: [
        { shard: 0, transactions: 2, missing: 0, nodes: { "/a": "2", "/b": null, "/c": "\u00ff\u0000" } },
        { shard: 3, transactions: 1, missing: 0, nodes: { "/d": "4" } },
      ],
    });
    expect((await nodesOf(9)).shards).toEqual([]);
    // All of a later epoch counts, nothing of an earlier one.
    expect((await nodesOf(9, 99)).shards.map(({ transactions }) => transactions)).toEqual([3, 1]);
    expect((await nodesOf(0, 101)).shards).toEqual([]);
  });

  test("is in the order of terms and their numbers, whichever process wrote it into whichever file", async () => {
    const [one, two] = [writer(), writer()];
    await two.keep(transaction(9, [put("/a", "last")], { term: 2, number: 0 }));
    await one.keep(transaction(7, [put("/a", "second")], { number: 5 }));
    await one.keep(transaction(7, [put("/a", "first")], { number: 4 }));
    await Promise.all([one.close(), two.close()]);
    expect((await nodesOf(0)).shards).toMatchObject([{ nodes: { "/a": "last" } }]);
    expect((await readdir(folder)).length).toBe(2);
  });

  test("tells what is missing in a term, what is torn, and what has changed on the disk", async () => {
    const redo = writer();
    for (const n of [1, 2, 5]) await redo.keep(transaction(n, [put("/a", String(n))]));
    await redo.close();
    const [name = ""] = await readdir(folder);
    await appendFile(join(folder, name), '00000000 [0,1,6,"6",[["s","/a"');
    expect(await nodesOf(0)).toMatchObject({ damaged: [], shards: [{ missing: 2, nodes: { "/a": "5" } }] });
    const text = await readFile(join(folder, name), "utf8");
    await writeFile(join(folder, name), text.replace('"2"]', '"x"]'));
    expect(await nodesOf(0)).toMatchObject({ damaged: [name], shards: [{ nodes: { "/a": "1" } }] });
  });
});

describe("its files", () => {
  test("go by age, and the oldest by bytes: until when is told", async () => {
    const redo = writer({ segmentBytes: 1, maxBytes: 1_000_000 });
    for (const n of [1, 2, 3]) {
      now += 1_000;
      await redo.keep(transaction(n, [put("/a", "x".repeat(100_000))]));
    }
    await redo.close();
    const names = (await readdir(folder)).sort();
    expect(names).toHaveLength(3);
    const old = (now - 25 * HOUR_MS) / 1_000;
    await utimes(join(folder, names[0]!), old, old);
    expect(await redo.prune()).toEqual({ files: 1, cutMs: null });
    const small = writer({ maxBytes: 150_000 });
    const cut = await small.prune();
    expect(cut).toMatchObject({ files: 1, cutMs: expect.any(Number) });
    expect(await readdir(folder)).toEqual([names[2]]);
    expect((await nodesOf(0)).shards).toMatchObject([{ transactions: 1 }]);
  });

  test("are of one epoch each", async () => {
    let epoch: number | null = 100;
    const redo = writer({ epoch: () => epoch });
    await redo.keep(transaction(1, [put("/a", "1")]));
    epoch = 101;
    await redo.keep(transaction(1, [put("/a", "2")]));
    epoch = null;
    await redo.keep(transaction(2, [put("/a", "3")]));
    await redo.close();
    expect((await nodesOf(5)).shards).toMatchObject([{ transactions: 1, nodes: { "/a": "2" } }]);
    expect(lost).toEqual([[1, "the fleet's epoch is not known"]]);
  });
});

describe("a disk", () => {
  test("that takes nothing holds nobody up: it is told, and what comes later is kept", async () => {
    await writeFile(folder, "in the way");
    const redo = writer();
    await redo.keep(transaction(1, [put("/a", "1")]));
    expect(lost).toEqual([[1, expect.any(String)]]);
    await rm(folder);
    await redo.keep(transaction(2, [put("/a", "2")]));
    await redo.close();
    expect((await nodesOf(0)).shards).toMatchObject([{ nodes: { "/a": "2" } }]);
  });

  test("that is slow is waited for a while, by the first alone, and has it in the end", async () => {
    const waits: (() => void)[] = [];
    const redo = writer({
      later: (_ms, wake) => {
        waits.push(wake);
        return () => undefined;
      },
    });
    const kept = redo.keep(transaction(1, [put("/a", "1")]));
    for (const wake of waits) wake();
    await kept;
    await redo.keep(transaction(2, [put("/a", "2")]));
    expect(waits).toHaveLength(1);
    await redo.close();
    expect((await nodesOf(0)).shards).toMatchObject([{ transactions: 2 }]);
    expect(lost).toEqual([]);
  });
});
