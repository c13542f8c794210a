import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
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
const report = { id: BATCH.id, number: 1, news: { kind: "first", lists } } as const;

test("a mail that was sent is known to the next process, and no other is", async () => {
  expect(await sentMarks(folder).has(report)).toBe(false);
  expect(await sentMarks(folder).put(report)).toBeNull();
  expect(await sentMarks(folder).has(report)).toBe(true);
  expect(await sentMarks(folder).has({ ...report, number: 2 })).toBe(false);
  expect(await sentMarks(folder).has({ ...report, number: "queued" })).toBe(false);
});

test("another report under the same number is another mail: the tree may have been restored", async () => {
  await sentMarks(folder).put(report);
  const other = { ...report, news: { kind: "first", lists: { ...lists, failed: [] } } } as const;
  expect(await sentMarks(folder).has(other)).toBe(false);
  expect(await sentMarks(folder).put(other)).toBeNull();
  expect(await sentMarks(folder).has(other)).toBe(true);
});

test("a folder that cannot be used has no marks, and says why", async () => {
  await writeFile(join(folder, BATCH.id), "not a folder");
  expect(await sentMarks(folder).has(report)).toBe(false);
  expect(await sentMarks(folder).put(report)).toMatchObject({ message: expect.stringContaining(BATCH.id) });
});
