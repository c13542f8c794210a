import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { once } from "node:events";
import { mkdir, readFile, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openJournal } from "@sluice/journal";
import { openJobJournal } from "../src/index.ts";
import { type Bench, everything, makeBench, NOW, payloads, shown, taken, TYPE, written } from "./support.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await makeBench();
});
afterEach(() => bench.undo());

describe("M4: accepted is on disk", () => {
  test("what was answered is there after the end of the process, with its ids and its time", async () => {
    const ids = await written(await bench.open(), ["one\n", "two\r\n", "three"]);
    expect(ids).toEqual([1, 2, 3]);
    const journal = await bench.reopened();
    const read = await journal.read(journal.readReserve(10, 1000));
    expect(read.ok && read.lines.map(({ id, tenant, name, atMs }) => [id, tenant, name, atMs])).toEqual(
      [1, 2, 3].map((id) => [id, "acme", "resize", NOW]),
    );
    expect(shown(read)).toEqual("one two three".split(" "));
  });

  test("a write is whole: what a torn one left is cut, and the next one is sound", async () => {
    await written(await bench.open(), ["one"]);
    await bench.close();
    const [segment = ""] = await bench.segments();
    const path = join(bench.folder, "log", segment);
    await writeFile(path, Buffer.concat([await readFile(path), Buffer.from("SLJ1 half a record")]));
    const journal = await bench.bare();
    await written(journal, ["two", "three"]);
    expect((await taken(journal, 10)).lines).toEqual(["one", "two", "three"]);
  });

  test("at its bound it refuses, with a time to come again, uses no ids up, and takes more when there is room", async () => {
    const small = await makeBench({ maxBytes: 2_000 });
    const journal = await small.open();
    const [, left] = [await written(journal, ["x".repeat(1_000)]), journal.stats().idsLeft];
    expect(await journal.write(TYPE, ["x".repeat(1_000)])).toEqual({ kind: "full", retryAfterMs: 5_000 });
    expect(journal.stats().idsLeft).toBe(left);
    await journal.rsync((await taken(journal, 1)).token);
    expect(await journal.write(TYPE, ["x".repeat(1_000)])).toMatchObject({ kind: "written" });
    await small.undo();
  });

  test("belongs to one process", async () => {
    await bench.open();
    expect(await openJobJournal(bench.options)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("belongs to a running process"),
    });
  });
});

describe("ids", () => {
  test("that the disk does not note are given to nobody, and that is said", async () => {
    const journal = await bench.open();
    const inTheWay = join(bench.folder, "ids.json.tmp");
    await mkdir(inTheWay);
    expect(await journal.write(TYPE, ["one"])).toMatchObject({
      kind: "failed",
      why: expect.stringContaining("EISDIR"),
    });
    await rmdir(inTheWay);
    expect(await written(journal, ["one"])).toEqual([1]);
  });

  test("never come twice: not after a restart, not in the next block, not when a block is given again", async () => {
    const seen: number[] = [];
    let journal = await bench.open();
    for (let round = 0; round < 4; round++) {
      for (let n = 0; n < 30; n++) seen.push(...(await written(journal, payloads(1, 5))));
      await journal.rsync((await taken(journal, 1_000)).token);
      journal = await bench.reopened();
      await journal.addIds(1, 1000);
      await journal.addIds(16_001, 17_000);
    }
    expect(new Set(seen).size).toBe(600);
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  test("never come twice, though the log was lost with the lines that had them", async () => {
    const before = await written(await bench.open(), payloads(1, 5));
    await bench.close();
    for (const lost of ["log", "consumed"]) await rm(join(bench.folder, lost), { recursive: true });
    const after = await written(await bench.bare(), payloads(1, 5));
    expect(after.filter((id) => id <= (before.at(-1) ?? 0))).toEqual([]);
  });

  test("are there after a restart, until the last; then nothing is written", async () => {
    await (await bench.bare()).addIds(1, 1000);
    const journal = await bench.reopened();
    expect(journal.stats().idsLeft).toBe(1000);
    expect(await journal.write(TYPE, payloads(1, 1001))).toEqual({ kind: "no ids" });
    expect(await written(journal, payloads(1, 1000))).toHaveLength(1000);
    expect(await journal.write(TYPE, ["more"])).toEqual({ kind: "no ids" });
    expect(journal.stats()).toMatchObject({ lines: 1000, idsLeft: 0 });
  });
});

describe("M5: wsync", () => {
  test("answers after earlier writes are on disk, and does not wait for later ones", async () => {
    const gate = new EventTarget();
    let syncs = 0;
    const steps: string[] = [];
    const held = await makeBench({
      failpoint: async (step) => {
        if (step !== "journalAfterWrite") return;
        syncs += 1;
        steps.push(`sync ${syncs}`);
        // The second sync, that of the later write, is held back.
        if (syncs === 2) await once(gate, "open");
      },
    });
    const journal = await held.open();
    const first = written(journal, ["one"]).then(() => steps.push("one is written"));
    const synced = journal.wsync().then((ok) => steps.push(`synced ${ok}`));
    await first;
    const later = written(journal, ["two"]).then(() => steps.push("two is written"));
    await synced;
    expect(steps.filter((step) => !step.startsWith("sync "))).toEqual(["one is written", "synced true"]);
    const both = journal.wsync().then(() => steps.push("synced again"));
    gate.dispatchEvent(new Event("open"));
    while (!steps.includes("synced again")) {
      gate.dispatchEvent(new Event("open"));
      await Promise.race([both, new Promise((resolve) => setImmediate(resolve))]);
    }
    await later;
    expect(steps.indexOf("two is written")).toBeLessThan(steps.indexOf("synced again"));
    await held.undo();
  });

  test("answers at once when nothing is on its way", async () => {
    expect(await (await bench.open()).wsync()).toBe(true);
  });

  test("writes that come together share a sync", async () => {
    let syncs = 0;
    const counted = await makeBench({
      failpoint: (step) => Promise.resolve(void (syncs += step === "journalAfterSync" ? 1 : 0)),
    });
    const journal = await counted.open();
    const ids = await Promise.all(payloads(1, 90).map((payload) => written(journal, [payload])));
    expect(ids.flat()).toEqual(Array.from({ length: 90 }, (_, n) => n + 1));
    expect(syncs).toBeLessThan(90);
    await counted.undo();
  });
});

describe("M6: reservations", () => {
  test("are exclusive, in order, and read once", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 5));
    const [one, two] = [journal.readReserve(2, 1000), journal.readReserve(2, 1000)];
    expect(shown(await journal.read(two))).toEqual(payloads(3, 4));
    expect(shown(await journal.read(one))).toEqual(payloads(1, 2));
    expect(shown(await journal.read(one))).toBe("read before");
    expect((await taken(journal, 9)).lines).toEqual(payloads(5, 5));
    expect((await taken(journal, 9)).lines).toEqual([]);
  });

  test("that expire are errors, and their lines come back in front and in order", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 6));
    const [lost, kept] = [journal.readReserve(2, 1000), journal.readReserve(2, 5000)];
    const slow = await taken(journal, 1, 1000);
    expect(slow.lines).toEqual(["payload 5"]);
    bench.clock.now += 1000;
    expect([shown(await journal.read(lost)), await journal.rsync(slow.token)]).toEqual([
      "expired",
      { ok: false, why: "expired" },
    ]);
    expect((await taken(journal, 9)).lines).toEqual(payloads(1, 2));
    expect(shown(await journal.read(kept))).toEqual(payloads(3, 4));
    expect((await taken(journal, 9)).lines).toEqual(payloads(5, 6));
  });

  test("that are released come back at once", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 3));
    journal.release((await taken(journal, 2)).token);
    expect((await taken(journal, 9)).lines).toEqual(payloads(1, 3));
  });

  test("cannot be synced unread, or twice", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 2));
    const token = journal.readReserve(2, 1000);
    expect(await journal.rsync(token)).toEqual({ ok: false, why: "not read" });
    await journal.read(token);
    expect(await journal.rsync(token)).toEqual({ ok: true });
    expect(await journal.rsync(token)).toEqual({ ok: false, why: "expired" });
  });
});

describe("M7: rsync", () => {
  test("advances the read point for good, inside a batch too", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 5));
    await journal.rsync((await taken(journal, 2)).token);
    const again = await bench.reopened();
    expect((await taken(again, 9)).lines).toEqual(payloads(3, 5));
  });

  test("that never came brings the lines again, with the same ids", async () => {
    const journal = await bench.open();
    const ids = await written(journal, payloads(1, 3));
    expect((await taken(journal, 2)).lines).toEqual(payloads(1, 2));
    const again = await bench.reopened();
    const read = await again.read(again.readReserve(9, 1000));
    expect(read.ok && read.lines.map(({ id }) => id)).toEqual(ids);
  });

  test("out of turn waits for the lines before it", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 6));
    const [one, two] = [await taken(journal, 2), await taken(journal, 2)];
    await journal.rsync(two.token);
    expect((await taken(await bench.reopened(), 9)).lines).toEqual(payloads(1, 6));
    expect(one.lines).toEqual(payloads(1, 2));
  });

  test("of a gap moves over what was synced behind it", async () => {
    const journal = await bench.open();
    await written(journal, payloads(1, 6));
    const [one, two] = [await taken(journal, 2), await taken(journal, 2)];
    await journal.rsync(two.token);
    await journal.rsync(one.token);
    expect((await taken(await bench.reopened(), 9)).lines).toEqual(payloads(5, 6));
  });
});

describe("M8: the form of lines and batches", () => {
  const onDisk = async (): Promise<string> => {
    const segments = await bench.segments();
    return (await Promise.all(segments.map((name) => readFile(join(bench.folder, "log", name), "latin1")))).join("");
  };

  test("is the document's, on disk and when it is read", async () => {
    const journal = await bench.open();
    await written(journal, ["a|b, c", "second"]);
    const lines = ["2026-11-16T13:00:00.000Z|acme-resize|a|b, c", "2026-11-16T13:00:00.000Z|acme-resize|second"];
    expect(await everything(journal)).toEqual(lines);
    const body = lines.map((line) => `${line}\n`).join("");
    expect(await onDisk()).toContain(
      `#:Batch date=2026-11-16T13:00:00.000Z,bytes=${body.length},jobtype=acme-resize,tenant=acme,ids=1-2\n${body}#:EndBatch\n`,
    );
  });

  test.each(["a,b", "a|b", "a b", "a\nb", ""])("a type %j is refused", async (name) => {
    expect(await (await bench.open()).write({ tenant: "acme", name }, ["x"])).toMatchObject({ kind: "refused" });
  });

  test("payloads of any bytes are counted, and come back as they were", async () => {
    const odd = [Buffer.from([0, 255, 10, 13]), Buffer.from("#:EndBatch\n"), Buffer.alloc(0), Buffer.from("text")];
    await written(await bench.open(), odd);
    const journal = await bench.reopened();
    const read = await journal.read(journal.readReserve(9, 1000));
    expect(read.ok && read.lines.map(({ payload }) => payload)).toEqual(odd);
    expect(await onDisk()).toContain("sizes=4+11+0+4");
  });

  test("tenants whose names look alike are not taken for each other", async () => {
    const journal = await bench.open();
    await journal.write({ tenant: "a", name: "b-c" }, ["1"]);
    await journal.write({ tenant: "a-b", name: "c" }, ["2"]);
    const read = await journal.read(journal.readReserve(9, 1000));
    expect(read.ok && read.lines.map(({ tenant, name }) => [tenant, name])).toEqual([
      ["a", "b-c"],
      ["a-b", "c"],
    ]);
  });

  test("a bad line, and a record that is no batch, are told and cost nothing else", async () => {
    const body =
      "2026-11-16T13:00:00.000Z|acme-resize|one\nno line\n2026-11-16T13:00:00.000Z|other-resize|three\nwhen|acme-resize|x\n2026-11-16T13:00:00.000Z|acme-resize|five\n";
    const header = `#:Batch date=2026-11-16T13:00:00.000Z,bytes=${body.length},jobtype=acme-resize,tenant=acme,ids=1-5\n`;
    const opened = await openJournal({ ...bench.options, folder: join(bench.folder, "log"), maxRecords: 10 });
    if (!opened.ok) throw new Error(opened.problem);
    for (const record of [
      "no batch",
      `${header}${body}#:EndBatch\n`,
      `${header.replace("1-5", "6-7")}cut off`,
      `${header}again`,
    ])
      await opened.journal.append(Buffer.from(record));
    await opened.journal.close();
    const journal = await bench.open();
    const all = await taken(journal, 9);
    expect(all.lines).toEqual(["one", "five"]);
    expect(bench.bad).toEqual([
      "record 1: it is no batch",
      "record 4: its ids do not go on from those before",
      "2: it has no time, type and payload",
      "3: other-resize is not of its batch",
      "4: it does not begin with a time",
      "record 3: it does not end where its header says",
    ]);
    await journal.rsync(all.token);
    // The block of the ids that stand in those records is not begun again.
    expect(await written(journal, ["next"])).toEqual([16_001]);
    expect((await taken(await bench.reopened(), 9)).lines).toEqual(["next"]);
  });
});

describe("M9: rotation", () => {
  test("while lines are written, read, lost and synced loses and repeats nothing", async () => {
    const small = await makeBench({ segmentBytes: 300 });
    let journal = await small.open();
    const seen: number[] = [];
    let next = 1;
    for (let round = 0; round < 60; round++) {
      const writing = written(journal, payloads(next, next + (round % 4)));
      next += 1 + (round % 4);
      const token = journal.readReserve(1 + (round % 5), 1000);
      const read = await journal.read(token);
      await writing;
      if (round % 7 === 3) journal.release(token);
      else if (round % 11 === 5) small.clock.now += 1000;
      else if (read.ok && (await journal.rsync(token)).ok) seen.push(...read.lines.map(({ id }) => id));
      if (round % 13 === 12) journal = await small.reopened();
    }
    const rest = await journal.read(journal.readReserve(1_000, 1000));
    if (rest.ok) seen.push(...rest.lines.map(({ id }) => id));
    expect(seen).toHaveLength(next - 1);
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b));
    await small.undo();
  });

  test("removes segments whose lines have been synced", async () => {
    const small = await makeBench({ segmentBytes: 300 });
    const journal = await small.open();
    for (let n = 1; n <= 20; n++) await written(journal, [`payload ${n}`]);
    const before = (await small.segments()).length;
    await journal.rsync((await taken(journal, 20)).token);
    expect([before > 5, (await small.segments()).length]).toEqual([true, 1]);
    await small.undo();
  });
});
