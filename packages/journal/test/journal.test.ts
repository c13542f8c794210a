import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openJournal } from "../src/index.ts";
import { appendAll, AS_IT_SHOULD_BE, type Bench, bytesOf, contents, makeBench } from "./support.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench();
});
afterEach(async () => {
  await bench.undo();
});

const texts = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `record ${i + 1}`);

describe("a journal", () => {
  test("gives back what it was given, in order, also after it was opened again", async () => {
    await appendAll(await bench.open(), texts(5));
    const { journal, report } = await bench.reopened();
    expect([await contents(journal), report]).toEqual([texts(5), AS_IT_SHOULD_BE]);
    expect(await journal.peek()).toEqual({ kind: "record", number: 1, atMs: 1_000, data: bytesOf("record 1") });
  });

  test("takes records of any bytes, empty ones too", async () => {
    const data = [Buffer.alloc(0), Buffer.from("SLJ1SLJ1"), Buffer.alloc(300_000, 7), Buffer.from([0, 255])];
    const journal = await bench.open();
    for (const each of data) expect((await journal.append(each)).kind).toBe("appended");
    const again = (await bench.reopened()).journal;
    const read = await Promise.all(again.waiting().map((number) => again.read(number)));
    expect(read.map((record) => (record.kind === "record" ? record.data : record))).toEqual(data);
  });

  test("forgets what was consumed, for good, and goes on counting", async () => {
    const journal = await bench.open();
    await appendAll(journal, texts(5));
    await journal.consume(3);
    expect(await contents(journal)).toEqual(["record 4", "record 5"]);
    const again = (await bench.reopened()).journal;
    await again.consume(5);
    expect(await again.peek()).toEqual({ kind: "none" });
    const last = (await bench.reopened()).journal;
    expect(await last.append(bytesOf("next"))).toEqual({ kind: "appended", number: 6 });
    expect((await bench.reopened()).report).toEqual(AS_IT_SHOULD_BE);
  });

  test("does not go back when an older record is consumed again", async () => {
    const journal = await bench.open();
    await appendAll(journal, texts(3));
    await Promise.all([journal.consume(2), journal.consume(1)]);
    expect(await contents((await bench.reopened()).journal)).toEqual(["record 3"]);
  });

  test("says how much waits, and for how long", async () => {
    const journal = await bench.open();
    expect(journal.stats()).toEqual({
      records: 0,
      bytes: 0,
      segments: 0,
      usedRatio: 0,
      oldestAgeMs: null,
      full: false,
      broken: null,
    });
    await appendAll(journal, ["a"]);
    bench.clock.now += 500;
    await appendAll(journal, ["bc"]);
    bench.clock.now += 500;
    expect(journal.stats()).toMatchObject({ records: 2, bytes: 67, segments: 1, oldestAgeMs: 1_000 });
    await journal.consume(1);
    expect(journal.stats()).toMatchObject({ records: 1, bytes: 34, oldestAgeMs: 500 });
    expect((await bench.reopened()).journal.stats()).toMatchObject({ records: 1, bytes: 34, oldestAgeMs: 500 });
  });
});

describe("appends that come together", () => {
  test("share a write and its sync, and each is answered after it", async () => {
    const steps: string[] = [];
    const grouped = await makeBench({ failpoint: (step) => Promise.resolve(void steps.push(step)) });
    const journal = await grouped.open();
    const answers = await Promise.all(texts(100).map((text) => journal.append(bytesOf(text))));
    expect(answers).toEqual(texts(100).map((_, i) => ({ kind: "appended", number: i + 1 })));
    // The first is on its way before the others come; all others go with the second write.
    expect(steps.filter((step) => step === "journalAfterSync")).toHaveLength(2);
    expect(await contents((await grouped.reopened()).journal)).toEqual(texts(100));
    await grouped.undo();
  });

  test("are on disk when the journal is closed", async () => {
    const journal = await bench.open();
    const answers = texts(50).map((text) => journal.append(bytesOf(text)));
    await journal.close();
    expect((await Promise.all(answers)).every(({ kind }) => kind === "appended")).toBe(true);
    expect(await journal.append(bytesOf("late"))).toEqual({ kind: "failed", why: "the journal is closed" });
    expect(await contents(await (await makeAgain()).open())).toEqual(texts(50));
  });

  const makeAgain = async (): Promise<Bench> => {
    const { folder } = bench;
    const again = await makeBench({ folder });
    bench = { ...again, folder };
    return again;
  };
});

describe("segments", () => {
  test("follow one another, and go when all in them is consumed", async () => {
    const small = await makeBench({ segmentBytes: 100 });
    const journal = await small.open();
    await appendAll(journal, texts(9)); // 40 bytes each: three to a segment
    const names = [1, 4, 7].map((first) => `${String(first).padStart(20, "0")}.log`);
    expect(await small.segments()).toEqual(names);
    await journal.consume(5);
    expect(await small.segments()).toEqual(names.slice(1));
    const again = (await small.reopened()).journal;
    expect(await contents(again)).toEqual(texts(9).slice(5));
    await again.consume(9);
    expect(await small.segments()).toEqual(names.slice(2));
    await small.undo();
  });
});

describe("at its bound", () => {
  test.each([
    ["records", { maxRecords: 3 }],
    ["bytes", { maxBytes: 3 * 40 }],
  ])("of %s it is full, says so, and takes again what fits after something was consumed", async (_what, bounds) => {
    const bounded = await makeBench(bounds);
    const journal = await bounded.open();
    await appendAll(journal, texts(3));
    expect([await journal.append(bytesOf("record 4")), journal.stats().full]).toEqual([{ kind: "full" }, true]);
    expect((await bounded.reopened()).journal.stats().full).toBe(true);
    const again = (await bounded.reopened()).journal;
    await again.consume(1);
    expect(again.stats().full).toBe(false);
    await appendAll(again, ["record 4"]);
    expect(await contents(again)).toEqual(["record 2", "record 3", "record 4"]);
    await bounded.undo();
  });

  test("counts what is still on its way to disk", async () => {
    const bounded = await makeBench({ maxRecords: 3 });
    const journal = await bounded.open();
    const answers = await Promise.all(texts(5).map((text) => journal.append(bytesOf(text))));
    expect(answers.map(({ kind }) => kind)).toEqual(["appended", "appended", "appended", "full", "full"]);
    await bounded.undo();
  });
});

describe("a second owner", () => {
  test("is refused, whichever way it comes, until the first has let go", async () => {
    await bench.open();
    const other = join(bench.folder, "..", `${process.pid}-link`);
    await symlink(bench.folder, other);
    for (const folder of [bench.folder, other]) {
      const second = await openJournal({ ...bench.options, folder });
      expect(second).toMatchObject({ ok: false, problem: expect.stringContaining(`"pid":${process.pid}`) });
    }
    await bench.close();
    await bench.open();
    await rm(other);
  });

  test("of another folder is none", async () => {
    await bench.open();
    const other = await makeBench();
    await other.open();
    await other.undo();
  });
});

test("a folder that cannot be made is a problem, not a surprise", async () => {
  const folder = join(bench.folder, "file", "journal");
  await writeFile(join(bench.folder, "file"), "");
  expect(await openJournal({ ...bench.options, folder })).toMatchObject({
    ok: false,
    problem: expect.stringContaining(folder),
  });
});

test("a disk that does not take a record leaves the journal as it was", async () => {
  let fail = false;
  const failing = await makeBench({
    failpoint: () => (fail ? Promise.reject(new Error("ENOSPC")) : Promise.resolve()),
  });
  const journal = await failing.open();
  await appendAll(journal, ["one"]);
  fail = true;
  expect(await journal.append(bytesOf("a longer one that is not taken"))).toEqual({ kind: "failed", why: "ENOSPC" });
  fail = false;
  await appendAll(journal, ["two"]);
  expect(journal.stats()).toMatchObject({ records: 2, bytes: 70 });
  const { journal: again, report } = await failing.reopened();
  expect([await contents(again), report]).toEqual([["one", "two"], AS_IT_SHOULD_BE]);
  await failing.undo();
});
