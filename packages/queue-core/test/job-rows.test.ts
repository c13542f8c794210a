/** A job that is made again, by whomever and in whichever history of the tree, is the job that it was. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aBatch, aJobSpec, testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import {
  batchId,
  batchUuidFromKey,
  type BatchId,
  createBatch,
  findJobId,
  type JobSpec,
  listBucket,
  makeExpander,
  makeIdBlocks,
  parseJobUuid,
  paths,
  readJobs,
  records,
  type Submission,
} from "../src/index.ts";
import { jobOfRow, withRows } from "../src/job-rows.ts";
import { jobId, jobNumber } from "../src/ids.ts";

const ROWS = 60;
const CHUNK = 25;

const specOf = (row: number): JobSpec => {
  const spec = aJobSpec();
  return { ...spec, configuration: { ...spec.configuration, payload_url: `http://content.example/${row}` } };
};

async function loadedAs(worker: TestWorker, state: "Pending" | "Processing", id: BatchId) {
  const claimed = await worker.batches.claim(state, id);
  if (claimed.kind !== "acquired") throw new Error(claimed.kind);
  return claimed.loaded;
}

/** Rows become jobs, a new intake for each chunk if so many are given. */
async function expand(worker: TestWorker, id: BatchId, fleet: string, intakes = 1): Promise<void> {
  await worker.batches.settle(await loadedAs(worker, "Pending", id), { kind: "start", rows: ROWS, digest: "d" });
  const options = { identity: { ...worker.identity, fleet }, workingDir: () => "" };
  const expanders = Array.from({ length: intakes }, () =>
    makeExpander(worker.ctx, worker.actor, makeIdBlocks(worker.ctx), options),
  );
  let loaded = await loadedAs(worker, "Processing", id);
  for (let row = 0; row < ROWS; row += CHUNK) {
    const specs = Array.from({ length: Math.min(CHUNK, ROWS - row) }, (_, i) => specOf(row + i + 1));
    const added = await expanders[(row / CHUNK) % intakes]!.addJobs(loaded, specs);
    if (added.kind !== "added") throw new Error(added.kind);
    loaded = added.loaded;
  }
  await worker.batches.settle(loaded, { kind: "release" });
}

/** Names of the jobs by their payload. */
async function namesOf(worker: TestWorker, id: BatchId): Promise<ReadonlyMap<string, string>> {
  const views =
    (await readJobs(worker.session, (await listBucket(worker.session, id, "batch-processing")) ?? [])) ?? [];
  return new Map(
    views.flatMap((view) =>
      view.kind === "found" ? [[view.value.configuration.payload_url, view.value.configuration.jobID ?? ""]] : [],
    ),
  );
}

const UUID = batchUuidFromKey("ada", "key");

async function sameBatch(worker: TestWorker, content = "same"): Promise<BatchId> {
  const submission = { profile_name: "demo_content", submitter: "ada", payload_url: "u", type: "t" } as const;
  const made = await createBatch(worker.ctx, makeIdBlocks(worker.ctx), {
    uuid: UUID,
    submission: { ...submission, submission_mode: "add", request_digest: content } as Submission,
    id: batchId(7),
    epoch: 20,
  });
  if (made.kind !== "created") throw new Error(made.kind);
  return made.id;
}

let worker: TestWorker;
beforeEach(async () => {
  worker = await testWorker((await testZooKeeper()).connect, "batch-intake");
});
afterEach(() => worker.close());

describe("the rows of a batch", () => {
  test("are the same jobs in another history, under other numbers, and other jobs for another fleet or content", async () => {
    const id = await sameBatch(worker);
    await expand(worker, id, "fleet");
    const first = await namesOf(worker, id);
    expect(first.size).toBe(ROWS);
    expect(new Set(first.values()).size).toBe(ROWS);

    const others: ReadonlyMap<string, string>[] = [];
    for (const [fleet, content] of [
      ["fleet", "same"],
      ["another", "same"],
      ["fleet", "other"],
    ] as const) {
      const later = await testWorker((await testZooKeeper()).connect, "batch-intake");
      // So many numbers are passed over.
      await makeIdBlocks(later.ctx).nextJobs(1_234);
      const again = await sameBatch(later, content);
      await expand(later, again, fleet, 2);
      others.push(await namesOf(later, again));
      await later.close();
    }
    expect(others[0]).toEqual(first);
    const known = new Set(first.values());
    for (const other of others.slice(1)) expect([...other.values()].filter((name) => known.has(name))).toEqual([]);
  });

  test("are found by their names, whoever made them, and take few steps in the cursor", async () => {
    const alone = await aBatch(worker);
    await expand(worker, alone, "fleet");
    const shared = await aBatch(worker);
    await expand(worker, shared, "fleet", 3);
    for (const [id, steps] of [
      [alone, 1],
      [shared, 3],
    ] as const) {
      const cursor = await worker.session.get(paths.expansion(id));
      const expansion = cursor.ok ? records.expansion.decode(cursor.value.data) : null;
      expect(expansion?.ok === true && expansion.value.numbers).toHaveLength(steps);
      for (const [url, name] of await namesOf(worker, id)) {
        const found = await findJobId(worker.session, parseJobUuid(name)!);
        const [view] = (await readJobs(worker.session, [found!])) ?? [];
        expect(view).toMatchObject({ kind: "found", value: { configuration: { payload_url: url, jobID: name } } });
      }
    }
  });
});

test("a row that is no job yet, or was made before rows were written down, is not found", () => {
  const numbers = withRows(withRows([], 1, [jobId(5), jobId(6)]), 3, [jobId(90), jobId(91), jobId(40)]);
  expect(numbers).toEqual([
    [1, 5],
    [3, 90],
    [5, 40],
  ]);
  const found = [1, 2, 3, 4, 5, 6].map((row) => jobOfRow({ created: 5, numbers }, row));
  expect(found.map((id) => (id === null ? null : jobNumber(id)))).toEqual([5, 6, 90, 91, 40, null]);
  expect(jobOfRow({ created: 5 }, 1)).toBeNull();
  expect(jobOfRow({ created: 5, numbers: [[3, 90]] }, 2)).toBeNull();
});
