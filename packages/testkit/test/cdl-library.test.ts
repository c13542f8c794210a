/** The double of CDL's library leaves what the library leaves, in its order: known from its code and recorded trees. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  type CdlCall,
  cdlLibrary,
  type CdlLibrary,
  cdlWriter,
  consumeOne,
  MerrittStateError,
  openRawSession,
  testZooKeeper,
  type TestZooKeeper,
  tree,
} from "../src/index.ts";

let zk: TestZooKeeper;
let library: CdlLibrary;
let calls: CdlCall[];

beforeEach(async () => {
  zk = await testZooKeeper();
  const writer = await cdlWriter(zk.connect);
  await writer.close();
  calls = [];
  library = await cdlLibrary(zk.connect, {
    onCall: (call) => {
      calls.push(call);
    },
  });
});
afterEach(async () => {
  await library.close();
});

const configuration = { profile_name: "merritt_demo_content", submitter: "a", payload_url: "http://x/y" };

async function aJob() {
  const batch = await library.createBatch({ batchID: "bid-1", job: "quack" });
  const acquired = await library.acquirePendingBatch();
  await acquired?.unlock();
  return { batch, job: await library.createJob(batch.id, configuration) };
}

const writes = (): readonly string[] =>
  calls.filter(({ op }) => op === "create" || op === "set" || op === "delete").map(({ op, path }) => `${op} ${path}`);

describe("what it makes", () => {
  test("is a batch and a job in the library's paths and bytes", async () => {
    const { batch, job } = await aJob();
    const made = await tree(library.session, { except: /^\/(zookeeper|locks)/ });
    expect(made).toMatchObject({
      "/batch-uuids/bid-1": batch.id,
      [`/batches/${batch.id}/submission`]: { batchID: "bid-1", job: "quack" },
      [`/batches/${batch.id}/states/batch-processing/${job.id}`]: null,
      [`/jobs/${job.id}/bid`]: batch.id,
      [`/jobs/${job.id}/priority`]: "5",
      [`/jobs/${job.id}/space_needed`]: "0",
      [`/jobs/states/pending/05-${job.id}`]: null,
      [`/jobs/${job.id}/status`]: {
        status: "Pending",
        last_modified: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000$/),
        last_successful_status: null,
        retry_count: 0,
        message: "",
      },
    });
    expect(Object.keys(made).filter((path) => path.endsWith("/lock"))).toEqual([]);
  });

  test("is numbered by how many children the directory has ever had, and fails where that number is taken", async () => {
    const session = await openRawSession(zk.connect);
    const before = await session.children("/jobs");
    const next = before.ok ? (before.value.stat.cversion + before.value.names.length) / 2 : NaN;
    await session.create("/jobs/gone", Buffer.alloc(0));
    await session.remove("/jobs/gone");
    const taken = `/jobs/jid${String(next + 2).padStart(10, "0")}`;
    await session.create(taken, Buffer.alloc(0));
    await session.close();
    await expect(library.createJob("bid0000000000", configuration)).rejects.toThrow("NODE_EXISTS");
    await expect(library.createJob("bid0000000000", configuration)).rejects.toThrow("NODE_EXISTS");
  });
});

describe("a change of status", () => {
  test("writes the status, then its places one by one, the batch's too although it stays", async () => {
    const { batch, job } = await aJob();
    const acquired = await library.acquireJob("Pending");
    calls.length = 0;
    await acquired?.setStatus("Estimating");
    await acquired?.unlock();
    const bucket = `/batches/${batch.id}/states/batch-processing/${job.id}`;
    expect(writes()).toEqual([
      `set /jobs/${job.id}/status`,
      `delete /jobs/states/pending/05-${job.id}`,
      `create /jobs/states/estimating/05-${job.id}`,
      `delete ${bucket}`,
      `create ${bucket}`,
      `delete /jobs/${job.id}/lock`,
    ]);
  });

  test("that it does not allow is refused, and the state that is left counts as a success", async () => {
    const { job } = await aJob();
    const acquired = (await library.acquireJob("Pending"))!;
    await expect(acquired.setStatus("Completed")).rejects.toThrow(MerrittStateError);
    await acquired.setStatus("Held");
    await acquired.setStatus("Pending");
    const status = await library.session.get(`/jobs/${job.id}/status`);
    expect(status).toMatchObject({ ok: true });
    expect(JSON.parse(status.ok ? status.value.data.toString() : "")).toMatchObject({ last_successful_status: "Held" });
  });
});

describe("a consumer", () => {
  test("moves its job on, or to Failed with what was thrown, and lets go", async () => {
    const { batch, job } = await aJob();
    const other = await library.createJob(batch.id, configuration);
    const pending = await library.acquireJob("Pending");
    await pending?.setStatus("Estimating");
    await pending?.unlock();
    expect(
      await consumeOne(library, "Estimating", () => {
        throw new Error("no such profile");
      }),
    ).toBe(true);
    expect(await consumeOne(library, "Estimating", () => undefined)).toBe(false);
    const left = await tree(library.session, { except: /^\/zookeeper/ });
    expect(left).toMatchObject({
      [`/jobs/${job.id}/status`]: { status: "Failed", message: "no such profile", last_successful_status: "Pending" },
      [`/jobs/states/failed/05-${job.id}`]: null,
      [`/batches/${batch.id}/states/batch-failed/${job.id}`]: null,
      [`/jobs/states/pending/05-${other.id}`]: null,
    });
    expect(Object.keys(left).filter((path) => path.endsWith("/lock"))).toEqual([]);
  });
});
