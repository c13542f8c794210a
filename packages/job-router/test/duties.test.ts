/** What a router does by itself: a shard whose terms keep ending rests, and what has ended leaves the tree. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type EndedRun, paths, type RunArchive, SHARDS } from "@sluice/job-queue";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import { commandOf, getJob, idOf, settled, startRouter, takenOf, type TestRouter } from "./support/routers.ts";

const kept: EndedRun[] = [];
const archive: RunArchive = {
  keep: (_shard, runs) => {
    kept.push(...runs);
    return Promise.resolve();
  },
  runsOf: () => Promise.resolve([]),
  list: () => Promise.resolve({ runs: [], next: null }),
  head: () => "",
};

let alone: TestRouter;
let told: string[];

beforeEach(async () => {
  told = [];
  const { connect } = await testZooKeeper();
  alone = await startRouter(connect, "api-1", {
    hooks: { onTermEnd: (why) => void told.push(why), onPause: () => void told.push("pause") },
    // Counted from the end of the hour: at once.
    archiving: { archive, olderThanMs: -2 * 3_600_000, everyMs: 50 },
  });
  await settled(alone);
});
afterEach(() => alone.close());

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
