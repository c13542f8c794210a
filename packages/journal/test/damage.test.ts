import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openJournal } from "../src/index.ts";
import { HEADER_BYTES } from "../src/frame.ts";
import { appendAll, AS_IT_SHOULD_BE, type Bench, bytesOf, contents, makeBench } from "./support.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench();
});
afterEach(async () => {
  await bench.undo();
});

const FIRST = `${"1".padStart(20, "0")}.log`;
const segment = (name = FIRST): string => join(bench.folder, name);

/** One segment with these records, each written by itself, and the journal closed. */
async function written(texts: readonly string[]): Promise<Buffer> {
  await appendAll(await bench.open(), texts);
  await bench.close();
  return readFile(segment());
}

async function flip(offset: number, name = FIRST): Promise<void> {
  const bytes = await readFile(segment(name));
  bytes[offset]! ^= 0xff;
  await writeFile(segment(name), bytes);
}

describe("a write that was torn", () => {
  test("at any byte costs the record that was never answered, and nothing else", async () => {
    const whole = await written(["one", "two", "three"]);
    const before = 2 * (HEADER_BYTES + 3);
    for (let length = before; length < whole.length; length++) {
      await writeFile(segment(), whole.subarray(0, length));
      const { journal, report } = await bench.opened();
      expect(await contents(journal)).toEqual(["one", "two"]);
      expect(report).toEqual({
        ...AS_IT_SHOULD_BE,
        cut: length === before ? null : { segment: FIRST, offset: before, bytes: length - before },
      });
      await appendAll(journal, ["again"]);
      expect(await contents((await bench.reopened()).journal)).toEqual(["one", "two", "again"]);
      await bench.close();
    }
  });

  test("of several records, some of which came to disk out of turn, is cut where it begins to be torn", async () => {
    const journal = await bench.open();
    await appendAll(journal, ["one"]);
    // Two writes: what comes while the first is on its way goes together.
    await Promise.all(["alone", "two", "three", "four"].map((text) => journal.append(bytesOf(text))));
    await bench.close();
    const two = HEADER_BYTES + 3 + HEADER_BYTES + 5;
    await flip(two + HEADER_BYTES);
    const { journal: again, report } = await bench.opened();
    expect([await contents(again), report.cut?.offset, report.damaged]).toEqual([["one", "alone"], two, []]);
  });

  test("leaves a file of zeros behind on some file systems: cut as well", async () => {
    const whole = await written(["one"]);
    await writeFile(segment(), Buffer.concat([whole, Buffer.alloc(4096)]));
    const { journal, report } = await bench.opened();
    expect([await contents(journal), report.cut]).toEqual([
      ["one"],
      { segment: FIRST, offset: whole.length, bytes: 4096 },
    ]);
  });
});

describe("damage to what had been answered for", () => {
  test("at any byte is told, kept for evidence, and does not stop the records around it", async () => {
    const whole = await written(["one", "two", "three"]);
    const [from, to] = [HEADER_BYTES + 3, 2 * (HEADER_BYTES + 3)];
    for (let offset = from; offset < to; offset++) {
      await writeFile(segment(), whole);
      await flip(offset);
      const { journal, report } = await bench.opened();
      expect(await contents(journal)).toEqual(["one", "three"]);
      expect(report).toEqual({
        cut: null,
        damaged: [{ segment: FIRST, offset: from, bytes: to - from }],
        missing: [{ first: 2, last: 2 }],
      });
      await bench.close();
    }
    expect(await readdir(join(bench.folder, "quarantine"))).toEqual([FIRST]);
  });

  test("is never written over: new records go to a new segment", async () => {
    await written(["one", "two", "three"]);
    await flip(HEADER_BYTES);
    const { journal } = await bench.opened();
    expect(await journal.append(bytesOf("four"))).toEqual({ kind: "appended", number: 4 });
    expect(await bench.segments()).toHaveLength(2);
    await journal.consume(4);
    expect(await readFile(join(bench.folder, "quarantine", FIRST))).toHaveLength(3 * HEADER_BYTES + 11);
    expect((await bench.reopened()).report).toEqual(AS_IT_SHOULD_BE);
  });

  test("at the end of an older segment is damage, not a torn write", async () => {
    const small = await makeBench({ segmentBytes: 1 });
    bench = { ...small, undo: small.undo };
    await appendAll(await bench.open(), ["one", "two", "three"]);
    await bench.close();
    await flip(HEADER_BYTES, `${"2".padStart(20, "0")}.log`);
    const { journal, report } = await bench.opened();
    expect([await contents(journal), report.missing, report.damaged.length]).toEqual([
      ["one", "three"],
      [{ first: 2, last: 2 }],
      1,
    ]);
  });

  test("that took a whole segment away is told by the numbers that are missing", async () => {
    const small = await makeBench({ segmentBytes: 1 });
    bench = { ...small, undo: small.undo };
    await appendAll(await bench.open(), ["one", "two", "three"]);
    await bench.close();
    await rm(segment(FIRST));
    const { journal, report } = await bench.opened();
    expect([await contents(journal), report.missing]).toEqual([["two", "three"], [{ first: 1, last: 1 }]]);
  });

  test("that comes while the journal is open is told when the record is read", async () => {
    const journal = await bench.open();
    await appendAll(journal, ["one", "two"]);
    await flip(HEADER_BYTES);
    expect(await journal.peek()).toMatchObject({ kind: "damaged", number: 1 });
    expect(await readdir(join(bench.folder, "quarantine"))).toEqual([FIRST]);
    await journal.consume(1);
    expect(await contents(journal)).toEqual(["two"]);
  });
});

describe("the position", () => {
  const POSITION = "consumed";
  const SLOTS = [0, 4096];

  test("survives a torn write of itself: at most the last step is done again", async () => {
    const journal = await bench.open();
    await appendAll(journal, ["one", "two", "three"]);
    await journal.consume(1);
    await journal.consume(2);
    await bench.close();
    const whole = await readFile(segment(POSITION));
    for (const slot of SLOTS) {
      await writeFile(segment(POSITION), whole);
      await flip(slot + 7, POSITION);
      const waiting = await contents(await bench.open());
      expect([["three"], ["two", "three"]]).toContainEqual(waiting);
      await bench.close();
    }
  });

  test("that cannot be read at all is refused, with what to do", async () => {
    await written(["one"]);
    await writeFile(segment(POSITION), "nonsense");
    const result = await openJournal(bench.options);
    expect(result).toMatchObject({ ok: false, problem: expect.stringContaining("Remove it to begin") });
    await rm(segment(POSITION));
    expect(await contents(await bench.open())).toEqual(["one"]);
  });
});
