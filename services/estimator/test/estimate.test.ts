import { describe, expect, test } from "@jest/globals";
import type { Job } from "@sluice/queue-core";
import type { JobContext, Progress } from "@sluice/stage-runtime";
import type { FileToFetch, FetchItem } from "@sluice/working-folder";
import { type EstimatorParts, estimatingStage } from "../src/estimate.ts";

const job = { configuration: { payload_type: "file" } } as unknown as Job;
const LARGE = 1_000;

function context(signal = new AbortController().signal) {
  const shown: Progress[] = [];
  const warnings: unknown[] = [];
  const ctx = {
    signal,
    failpoint: () => Promise.resolve(),
    progress: (progress: Progress) => shown.push(progress),
    log: { info: () => undefined, warn: (fields: unknown) => warnings.push(fields) },
  } as unknown as JobContext;
  return { ctx, shown, warnings };
}

const fileOf = (name: string, size?: number): FetchItem => ({
  ok: true,
  file: { name, source: { kind: "url", url: `http://host/${name}` }, size, digest: undefined },
});

async function* listed(...items: FetchItem[]): AsyncGenerator<FetchItem> {
  for (const item of items) yield await Promise.resolve(item);
}

/** Servers that say what the table says. */
const answers = (sizes: Record<string, number>) => (_job: Job, file: FileToFetch) => Promise.resolve(sizes[file.name]);

const stage = (parts: Partial<EstimatorParts>) =>
  estimatingStage({
    files: () => listed(),
    sizeOf: answers({}),
    budget: () => new AbortController().signal,
    filesAtOnce: 4,
    largeJobBytes: LARGE,
    containerFactor: 3,
    ...parts,
  });

describe("the estimate", () => {
  test("is the sum of what the servers say", async () => {
    const { ctx, shown } = context();
    const outcome = await stage({
      files: () => listed(fileOf("a"), fileOf("b")),
      sizeOf: answers({ a: 100, b: 20 }),
    }).handle(job, ctx);
    expect(outcome).toEqual({ kind: "done", changes: { spaceNeeded: 120 } });
    expect(shown.at(-1)).toMatchObject({ doneBytes: 120 });
  });

  test("trusts the server more than the manifest, and the manifest more than nobody", async () => {
    const outcome = await stage({
      files: () => listed(fileOf("a", 7), fileOf("b", 5)),
      sizeOf: answers({ a: 100 }),
    }).handle(job, context().ctx);
    expect(outcome).toEqual({ kind: "done", changes: { spaceNeeded: 105 } });
  });

  test("of nothing known is 0, and the job steps back by 10", async () => {
    const outcome = await stage({ files: () => listed(fileOf("a")) }).handle(job, context().ctx);
    expect(outcome).toMatchObject({ kind: "done", changes: { spaceNeeded: 0, priorityDelta: 10 } });
  });

  test("of some files unknown is 0 as well, says so, and the job steps back by 10", async () => {
    const outcome = await stage({
      files: () => listed(fileOf("a"), fileOf("b")),
      sizeOf: answers({ a: 100 }),
    }).handle(job, context().ctx);
    expect(outcome).toEqual({
      kind: "done",
      changes: { spaceNeeded: 0, priorityDelta: 10, message: "size unknown: 1 of 2 files, 100 bytes known" },
    });
  });

  test("of an empty file is one byte: 0 would mean unknown", async () => {
    const outcome = await stage({ files: () => listed(fileOf("a")), sizeOf: answers({ a: 0 }) }).handle(
      job,
      context().ctx,
    );
    expect(outcome).toEqual({ kind: "done", changes: { spaceNeeded: 1 } });
  });

  test.each([
    [LARGE, undefined],
    [LARGE + 1, 5],
  ])("of %d bytes moves the job by %s", async (bytes, delta) => {
    const outcome = await stage({ files: () => listed(fileOf("a")), sizeOf: answers({ a: bytes }) }).handle(
      job,
      context().ctx,
    );
    expect(outcome).toMatchObject({ kind: "done", changes: { spaceNeeded: bytes } });
    expect(outcome.kind === "done" ? outcome.changes.priorityDelta : null).toBe(delta);
  });
});

describe("nothing fails the job", () => {
  test("not a payload that cannot be told apart into files", async () => {
    const { ctx, warnings } = context();
    const problem = { code: "UNSUPPORTED_TYPE", message: "no" } as const;
    const outcome = await stage({ files: () => listed({ ok: false, problem }) }).handle(job, ctx);
    expect(outcome).toMatchObject({ kind: "done", changes: { spaceNeeded: 0, priorityDelta: 10 } });
    expect(warnings).toEqual([{ problem }]);
  });

  test("not a disk that cannot be read", async () => {
    const { ctx, warnings } = context();
    async function* broken(): AsyncGenerator<FetchItem> {
      yield await Promise.resolve(fileOf("a"));
      throw new Error("EIO");
    }
    const outcome = await stage({ files: broken, sizeOf: answers({ a: 9 }) }).handle(job, ctx);
    expect(outcome).toMatchObject({ kind: "done", changes: { spaceNeeded: 0, priorityDelta: 10 } });
    expect(warnings).toHaveLength(1);
  });

  test("not a budget that is used up: what is unknown then stays unknown", async () => {
    const outcome = await stage({
      files: () => listed(fileOf("a", 3), fileOf("b")),
      sizeOf: (_job, _file, signal) => Promise.resolve(signal.aborted ? undefined : 100),
      budget: () => AbortSignal.abort(),
    }).handle(job, context().ctx);
    expect(outcome).toMatchObject({ kind: "done", changes: { spaceNeeded: 0, priorityDelta: 10 } });
  });
});

test("a worker that is stopped asks no further and gives no estimate", async () => {
  const stop = new AbortController();
  const asked: string[] = [];
  const handled = stage({
    files: () => listed(fileOf("a"), fileOf("b")),
    filesAtOnce: 1,
    sizeOf: (_job, file) => {
      asked.push(file.name);
      stop.abort(new Error("stopped"));
      return Promise.resolve(undefined);
    },
  }).handle(job, context(stop.signal).ctx);
  await expect(handled).rejects.toThrow("stopped");
  expect(asked).toEqual(["a"]);
});
