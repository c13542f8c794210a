/** No answer grows without end: neither by children, nor by the rows of a list. */
import { expect, test } from "@jest/globals";
import { ANSWER_BYTES, LIST_ROWS } from "../src/limits.ts";
import type { ChildView, ListedView } from "../src/shard/views.ts";
import { isStatus } from "../src/shard/params.ts";
import { readCommand } from "../src/shard/request.ts";
import { Bench } from "./support/bench.ts";

const MEGABYTE = 1024 * 1024;

/** Its data stands in the store of blobs. */
function createLarge(bench: Bench, params: Readonly<Record<string, string | number>>): number {
  const fields = Object.fromEntries(Object.entries(params).map(([name, value]) => [name, String(value)]));
  const command = readCommand("CreateJob", fields, { tenant: "default", caller: { kind: "worker", worker: "w" } });
  if (isStatus(command) || command.verb !== "CreateJobs") throw new Error("not to be made");
  const ref = { sha256: "a".repeat(64), bytes: MEGABYTE };
  const { content } = bench.run({
    ...command,
    jobs: command.jobs.map((job) => ({ ...job, data: { ...job.data, ref } })),
  });
  return content.kind === "ids" ? content.ids[0]! : 0;
}

const bytesOf = (rows: readonly Pick<ChildView, "data" | "dataRef">[]): number =>
  rows.reduce((sum, { data, dataRef }) => sum + (data?.length ?? 0) + (dataRef?.bytes ?? 0), 0);

test("a parent is given with as much of its children as one answer takes, and the ids of the rest", () => {
  const bench = new Bench();
  const parent = bench.create({ name: "parent" });
  bench.get("parent");
  const children = Array.from({ length: 40 }, () => createLarge(bench, { name: "child", parentJobID: parent }));
  bench.ask("FinishJob", { jobID: parent });
  for (const id of children) {
    if (id === children[39]) break;
    bench.get("child");
  }
  const last = children[39]!;
  for (const id of children.slice(0, 39)) expect(bench.ask("FinishJob", { jobID: id })).toBe("200 OK");
  expect(bench.ask("CancelJob", { jobID: last })).toBe("200 OK");
  const content = bench.content("GetJobs", { name: "parent", numResults: 5 });
  const jobs = content.kind === "taken" ? content.jobs.map(({ view }) => view) : [];
  const { finishedChildJobs: finished = [], cancelledChildJobs: cancelled = [] } = jobs.find(
    ({ jobID }) => jobID === parent,
  )!;
  expect(finished.map(({ jobID }) => jobID)).toEqual(children.slice(0, 39));
  expect(cancelled).toEqual([{ jobID: last, data: null }]);
  const isWhole = ({ dataRef }: ChildView): boolean => dataRef?.bytes === MEGABYTE;
  const whole = finished.filter(isWhole).length;
  expect(whole).toBe(finished.findIndex((child) => !isWhole(child)));
  expect(whole).toBe(15);
  expect(bytesOf(finished)).toBeLessThanOrEqual(ANSWER_BYTES);
  // Of what was not told each can be asked for.
  expect(bench.query(last)["dataRef"]).toMatchObject({ bytes: MEGABYTE });
});

test("a list for which no length was asked ends after so many rows, or bytes, and leads on", () => {
  const bench = new Bench();
  const ids = Array.from({ length: 20 }, () => createLarge(bench, { name: "job" }));
  const small = Array.from({ length: LIST_ROWS + 1 }, () => bench.create());
  const pages: (readonly ListedView[])[] = [];
  for (let after: number | null = 0; after !== null;) {
    const { content } = bench.run({ verb: "ListJobs", tenant: "default", after });
    if (content.kind !== "list") throw new Error(content.kind);
    pages.push(content.jobs);
    after = content.next;
  }
  expect(pages.flat().map(({ jobID }) => jobID)).toEqual([...ids, ...small]);
  for (const page of pages) {
    expect(bytesOf(page)).toBeLessThanOrEqual(ANSWER_BYTES);
    expect(page.length).toBeLessThanOrEqual(LIST_ROWS);
  }
  expect(pages.length).toBe(3);
});
