import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { testZooKeeper } from "@sluice/testkit";
import { blobNamesInTree } from "../src/index.ts";
import type { ShardOwner } from "../src/owner/owner.ts";
import { MemoryArchive } from "./support/memory-archive.ts";
import { command, idOf, type Process, startProcess, takenOf } from "./support/owners.ts";

let process: Process;
let owner: ShardOwner;
beforeEach(async () => {
  process = await startProcess((await testZooKeeper()).connect, "api-1");
  owner = await process.own();
});
afterEach(() => process.close());

const [DATA, RESULT] = ["a".repeat(64), "b".repeat(64)];

/** A job whose data stands in the store. */
async function createLarge(): Promise<number> {
  const plain = command("CreateJob", { name: "large" });
  if (plain.verb !== "CreateJobs") throw new Error(plain.verb);
  const ref = { sha256: DATA, bytes: 70_000 };
  return idOf(
    await owner.ask({ ...plain, jobs: plain.jobs.map((job) => ({ ...job, data: { ...job.data, text: "", ref } })) }),
  );
}

test("a blob is named by the job that has it, and by the runs that are left of the job", async () => {
  const id = await createLarge();
  expect(await blobNamesInTree(process.session)).toEqual(new Set([DATA]));
  const { token } = takenOf(await owner.ask(command("GetJob", { name: "large" })))!;
  const finish = command("FinishJob", { jobID: id, lease: token });
  if (finish.verb !== "FinishJob") throw new Error(finish.verb);
  await owner.ask({ ...finish, result: { sha256: RESULT, bytes: 80_000 } });
  expect(await blobNamesInTree(process.session)).toEqual(new Set([DATA, RESULT]));
});

test("a follow-on job names the result that it works on, when the run that left it has gone", async () => {
  await owner.resign();
  owner = await process.own({ archive: new MemoryArchive() });
  const id = idOf(await owner.ask(command("CreateJob", { name: "first", onFinish: "second" })));
  const { token } = takenOf(await owner.ask(command("GetJob", { name: "first" })))!;
  const finish = command("FinishJob", { jobID: id, lease: token });
  if (finish.verb !== "FinishJob") throw new Error(finish.verb);
  await owner.ask({ ...finish, result: { sha256: RESULT, bytes: 80_000 } });
  expect(await owner.emptyArchive(-2 * 3_600_000)).toBe(1);
  expect(await blobNamesInTree(process.session)).toEqual(new Set([RESULT]));
});

test("what a caller's own data says of digests names nothing", async () => {
  await owner.ask(command("CreateJob", { name: "plain", data: JSON.stringify({ sha256: DATA }) }));
  expect(await blobNamesInTree(process.session)).toEqual(new Set());
});

test("without an answer from everybody there is none", async () => {
  await createLarge();
  await process.session.close();
  expect(await blobNamesInTree(process.session)).toBeNull();
});
