/** Goal: whatever is written into the tree, somebody takes it away, or the document says that nobody does. */
import { expect, test } from "@jest/globals";
import { ZNODES } from "@sluice/queue-core";
import { firstCells, read } from "./support.ts";

const rows = firstCells(await read("docs/zookeeper-sizing.md"), ["path"]).map((cell) => cell.replaceAll("`", ""));
const hasRow = (path: string): boolean => rows.some((row) => path === row || path.startsWith(`${row}/`));

test("every kind of node of the ingest queue has a row that says who takes it away", () => {
  expect(ZNODES.map(({ path }) => path).filter((path) => !hasRow(path))).toEqual([]);
});

test("every kind of node of the general queue has one", async () => {
  const below = firstCells(await read("docs/job-queue.md"), ["path under /fleet/queue"]);
  expect(below.length).toBeGreaterThan(5);
  const all = below.map((cell) => `/fleet/queue${cell.replaceAll("`", "")}`);
  expect(all.filter((path) => !hasRow(path))).toEqual([]);
});

test("no row is of a kind of node that there is not", async () => {
  const queue = firstCells(await read("docs/job-queue.md"), ["path under /fleet/queue"]);
  const known = [
    ...ZNODES.map(({ path }) => path),
    ...queue.map((cell) => `/fleet/queue${cell.replaceAll("`", "")}`),
    // Registries of the general queue's runners and handlers.
    ...["/handlers", "/workers/NAME", "/sysids/N"].map((path) => `/fleet/queue${path}`),
  ];
  expect(rows.filter((row) => !known.some((path) => path === row || path.startsWith(`${row}/`)))).toEqual([]);
});
