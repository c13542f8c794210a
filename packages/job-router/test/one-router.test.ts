import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { SHARDS } from "@sluice/job-queue";
import { later, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import type { Later } from "../src/ports.ts";
import { commandOf, getJob, idOf, settled, startRouter, takenOf, type TestRouter } from "./support/routers.ts";

/** Nothing happens by waiting for it: what a test sees was told. */
const shortTimers: Later = (ms, wake) => (ms >= 5_000 ? () => undefined : later(ms, wake));

let zooKeeper: TestZooKeeper;
let alone: TestRouter;

beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  alone = await startRouter(zooKeeper.connect, "api-1");
  await settled(alone);
});
afterAll(() => alone.close());

test("a router that is alone owns every shard, and serves each tenant in its own", async () => {
  const { router } = alone;
  expect(router.shards().map(({ state, owner }) => `${state} ${owner ?? ""}`)).toEqual(
    Array(SHARDS).fill("here api-1"),
  );
  for (const tenant of ["default", "system", "acme", "umbrella"]) {
    const id = idOf(await router.ask(tenant, commandOf("CreateJob", { name: "foo" }, tenant)));
    expect(takenOf(await router.ask(tenant, getJob("foo", tenant)))?.view.jobID).toBe(id);
  }
  expect(router.stats()).toEqual({ shardsOwned: SHARDS, waiters: 0, quarantined: 0, endedInTree: 0 });
});

test("every shard answers", async () => {
  const answers = await alone.router.everyShard({ verb: "CountJobs", tenant: null });
  expect([...answers].map(([shard, answer]) => `${shard} ${answer?.status.code ?? 0}`)).toEqual(
    Array.from({ length: SHARDS }, (_, shard) => `${shard} 200`),
  );
});

test("who waits gets the job that comes, and who gives up gets none", async () => {
  const { router } = alone;
  const gone = new AbortController();
  const waiting = router.wait("default", getJob("later"), 60_000, gone.signal);
  const id = idOf(await router.ask("default", commandOf("CreateJob", { name: "later" })));
  expect(takenOf(await waiting)?.view.jobID).toBe(id);
  const vain = router.wait("default", getJob("never"), 60_000, gone.signal);
  gone.abort();
  expect((await vain)?.status.code).toBe(404);
});

test("a router that stops leaves no term behind, and the next one goes on", async () => {
  const id = idOf(await alone.router.ask("default", commandOf("CreateJob", { name: "kept" })));
  await alone.close();
  alone = await startRouter(zooKeeper.connect, "api-1", { later: shortTimers });
  await settled(alone);
  expect(takenOf(await alone.router.ask("default", getJob("kept")))?.view.jobID).toBe(id);
});

test("a waiting taker gets a job at once when its type becomes one that it accepts", async () => {
  const { router } = alone;
  const id = idOf(await router.ask("default", commandOf("CreateJob", { name: "handled-later" })));
  let isHandled = false;
  let looks = 0;
  const taking = router.take({
    worker: "w",
    tenants: "all",
    types: ["handled-*"],
    accepts: () => {
      looks += 1;
      return isHandled;
    },
    limit: 1,
    waitMs: 60_000,
    gone: new AbortController().signal,
  });
  await waitFor(() => looks > 0 && router.stats().waiters === 1);
  isHandled = true;
  router.lookAgain();
  expect((await taking).map(({ jobID }) => jobID)).toEqual([id]);
});

test("without a session a request is surely not done, and that is said", async () => {
  const lonely = await startRouter("127.0.0.1:1", "api-9");
  const outcome = await lonely.router.route("default", commandOf("CreateJob", { name: "foo" }), 50);
  expect(outcome.kind).toBe("unavailable");
  expect((await lonely.router.routeShard(3, { verb: "CountJobs", tenant: null }, 50)).kind).toBe("unavailable");
  await lonely.close();
});
