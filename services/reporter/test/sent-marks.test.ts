import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { mailMarkFile, parseMailMark } from "@sluice/working-folder";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sentMarks } from "../src/sent-marks.ts";
import { BATCH, failedJob, reported } from "./support.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-marks-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const lists = { completed: [reported(1)], failed: [failedJob(2)], deleted: [] };
const { place } = BATCH;
const report = { place, number: 1, news: { kind: "first", lists } } as const;

const FACTS = { subject: "Ingest: OK", to: ["jo@example.org"], outcome: "sent", detail: "250 Ok" } as const;

test("a mark tells what was sent to whom", async () => {
  await sentMarks(folder).put(report, FACTS);
  const text = await readFile(join(folder, place.batchId, mailMarkFile(1)), "utf8");
  expect(parseMailMark(text)).toMatchObject(FACTS);
  expect([parseMailMark("abc"), parseMailMark('abc\n{"to":[1]}')]).toEqual([null, null]);
});

test("a mail that was sent is known to the next process, and no other is", async () => {
  expect(await sentMarks(folder).has(report)).toBe(false);
  expect(await sentMarks(folder).put(report, FACTS)).toBeNull();
  expect(await sentMarks(folder).has(report)).toBe(true);
  expect(await sentMarks(folder).has({ ...report, number: 2 })).toBe(false);
  expect(await sentMarks(folder).has({ ...report, number: "queued" })).toBe(false);
});

test("another report under the same number is another mail: the tree may have been restored", async () => {
  await sentMarks(folder).put(report, FACTS);
  const other = { ...report, news: { kind: "first", lists: { ...lists, failed: [] } } } as const;
  expect(await sentMarks(folder).has(other)).toBe(false);
  expect(await sentMarks(folder).put(other, FACTS)).toBeNull();
  expect(await sentMarks(folder).has(other)).toBe(true);
});

test("a folder that cannot be used has no marks, and says why", async () => {
  await writeFile(join(folder, place.batchId), "not a folder");
  expect(await sentMarks(folder).has(report)).toBe(false);
  expect(await sentMarks(folder).put(report, FACTS)).toMatchObject({ message: expect.stringContaining(place.batchId) });
});
