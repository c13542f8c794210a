/** What a router does by itself: a shard whose terms keep ending rests, and what has ended leaves the tree. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type EndedRun, paths, type RunArchive, SHARDS } from "@sluice/job-queue";
import { testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import type { Op } from "@sluice/zookeeper";
import { commandOf, getJob, idOf, settled, startRouter, takenOf, type TestRouter } from "./support/routers.ts";

const kept: EndedRun[] = [];
const archive: RunArchive = {
  keep: (_shard, runs) => {
    kept.push(...runs);
    return Promise.resolve();
  },
  runsOf: () => Promise.resolve([]),
  list: () => Promise.resolve({ runs: [], next: null }),
  forget: () => Promise.resolve(),
  head: () => "",
};

let zooKeeper: TestZooKeeper;
let alone: TestRouter;
let told: string[];
let errors: (readonly [object, string])[];

beforeEach(async () => {
  told = [];
  errors = [];
  zooKeeper = await testZooKeeper();
  await start();
  await settled(alone);
});
afterEach(() => alone.close());

async function start(): Promise<void> {
  alone = await startRouter(zooKeeper.connect, "api-1", {
    log: { info: () => undefined, warn: () => undefined, error: (facts, text) => void errors.push([facts, text]) },
    hooks: { onTermEnd: (why) => void told.push(why), onPause: () => void told.push("pause") },
    // Counted from the end of the hour: at once.
    archiving: { archive, olderThanMs: -2 * 3_600_000, everyMs: 50 },
  });
}

/** As a wrong hand does. */
async function write(...ops: readonly Op[]): Promise<void> {
  const answer = await alone.keeper.current()!.multi(ops);
  if (!answer.ok) throw new Error(answer.detail);
}

test("a shard into which somebody else writes is given up and taken again, and rests after the fourth time", async () => {
  const { router, keeper } = alone;
  const spoil = async (): Promise<void> => {
    const jobID = idOf(await router.ask("default", commandOf("CreateJob", { name: "foo" })));
    await keeper.current()!.multi([{ op: "delete", path: paths.job(jobID), version: 0 }]);
    const answer = await router.ask("default", commandOf("UpdateJob", { jobID, data: '{"n":1}' }));
    expect(answer).toBeNull();
  };
  for (let n = 1; n <= 3; n++) {
    await spoil();
    await waitFor(() => router.shards()[0]?.state === "here");
  }
  await spoil();
  expect(told).toEqual(["refused", "refused", "refused", "refused", "pause"]);
  await waitFor(() => router.shards()[0]?.state === "paused");
  expect((await router.route("default", commandOf("CreateJob", { name: "foo" }), 50)).kind).toBe("unavailable");
  expect(router.stats().shardsOwned).toBe(SHARDS - 1);
  idOf(await router.ask("acme", commandOf("CreateJob", { name: "foo" }, "acme")));
});

test("runs that have ended go to the archive", async () => {
  const { router } = alone;
  const id = idOf(await router.ask("default", commandOf("CreateJob", { name: "foo" })));
  const { token } = takenOf(await router.ask("default", getJob("foo")))!;
  await router.ask("default", commandOf("FinishJob", { jobID: id, lease: token }));
  await waitFor(() => kept.some((run) => run.id === id && run.token === token));
});

test("a record that cannot be read costs its shard one term: it is logged, counted, and all else is served", async () => {
  const { router } = alone;
  const bad = idOf(await router.ask("default", commandOf("CreateJob", { name: "bad" })));
  await write({ op: "set", path: paths.job(bad), data: Buffer.from('{"v":2}'), version: 0 });
  // Who wrote it is found out by the next write.
  expect(await router.ask("default", getJob("bad"))).toBeNull();
  await waitFor(() => router.shards()[0]?.state === "here");
  expect(router.stats().quarantined).toBe(1);
  expect(errors).toEqual([
    [expect.objectContaining({ shard: 0, job: bad }), expect.stringContaining("cannot be read")],
  ]);
  const good = idOf(await router.ask("default", commandOf("CreateJob", { name: "good" })));
  expect(takenOf(await router.ask("default", getJob("*")))?.view.jobID).toBe(good);
  expect(told).toEqual(["refused"]);
});

test("a shard that nobody can load is tried four times, rests, and says so; its neighbours are served", async () => {
  const { keeper } = alone;
  await alone.stop();
  await write({ op: "create", path: `${paths.jobs(0)}/no-number`, data: Buffer.alloc(0) });
  await alone.close();
  told = [];
  await start();
  await waitFor(() => alone.router.shards()[0]?.state === "paused");
  expect(keeper.current()).toBeNull();
  expect(told).toEqual(["unloadable", "unloadable", "unloadable", "unloadable", "pause"]);
  expect(errors.map(([, text]) => text).filter((text) => text.includes("cannot be loaded"))).toHaveLength(4);
  // Of the owner before, and of none of the tries.
  expect(await alone.keeper.current()!.children(paths.counters(0))).toMatchObject({ value: { names: ["1"] } });
  idOf(await alone.router.ask("acme", commandOf("CreateJob", { name: "foo" }, "acme")));
});
