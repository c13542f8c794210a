/** Owners that are processes of their own, killed under load: whatever was accepted reaches its end. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkQueue } from "@sluice/job-queue";
import { readTransactions, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { commandOf, getJob, settled, startRouter, takenOf, type TestRouter } from "./support/routers.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const TENANTS = ["default", "acme", "umbrella", "initech", "hooli", "globex", "soylent", "stark"];
const JOBS = 600;

let zooKeeper: TestZooKeeper;
let here: TestRouter;
const children = new Map<string, ChildProcess>();

function start(apiId: string): void {
  const args = ["packages/job-router/test/doomed.mjs", zooKeeper.connect, apiId];
  children.set(apiId, spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "ignore", "inherit"] }));
}

async function end(apiId: string, signal: NodeJS.Signals): Promise<void> {
  const child = children.get(apiId)!;
  children.delete(apiId);
  child.kill(signal);
  await once(child, "exit");
}

const ownedBy = (apiId: string): number => here.router.shards().filter(({ owner }) => owner === apiId).length;

beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  here = await startRouter(zooKeeper.connect, "api-here");
  for (const apiId of ["api-1", "api-2"]) start(apiId);
  await waitFor(() => ownedBy("api-1") > 0 && ownedBy("api-2") > 0, { what: "both processes owning" });
  await settled(here);
});
afterAll(async () => {
  for (const apiId of [...children.keys()]) await end(apiId, "SIGKILL");
  await here.close();
});

/** Jobs are made, taken and ended while something happens to the owners; then every accepted one must have ended, once. */
async function underLoad(happens: (accepted: ReadonlySet<number>) => Promise<void>): Promise<void> {
  const { router } = here;
  const accepted = new Set<number>();
  const finished = new Map<number, number>();
  const over = new AbortController();
  const isOver = (): boolean => over.signal.aborted;
  const creator = async (n: number): Promise<void> => {
    for (let i = 0; accepted.size < JOBS && !isOver(); i++) {
      const tenant = TENANTS[(n + i) % TENANTS.length]!;
      const made = await router.ask(tenant, commandOf("CreateJob", { name: "foo" }, tenant));
      if (made?.content.kind === "ids") accepted.add(made.content.ids[0]!);
    }
  };
  const worker = async (n: number): Promise<void> => {
    for (let i = 0; !isOver(); i++) {
      const tenant = TENANTS[(n + i) % TENANTS.length]!;
      // Whoever's taking was not answered has a lease that nobody keeps: short, so that nobody waits long.
      const taken = takenOf(await router.ask(tenant, { ...getJob("foo", tenant), leaseMs: 1000 }));
      if (taken === null) continue;
      const { jobID } = taken.view;
      // An end that nobody knows of is said again: the same end of the same run.
      const finish = (): ReturnType<typeof router.ask> =>
        router.ask(tenant, commandOf("FinishJob", { jobID, lease: taken.token }, tenant));
      let ended = await finish();
      while (ended === null && !isOver()) ended = await finish();
      if (ended?.status.code === 200) finished.set(jobID, (finished.get(jobID) ?? 0) + 1);
    }
  };
  const working = Promise.all(Array.from({ length: 8 }, (_, n) => worker(n)));
  const creating = Promise.all(Array.from({ length: 8 }, (_, n) => creator(n)));
  try {
    await happens(accepted);
    await creating;
    await waitFor(() => [...accepted].every((id) => finished.has(id)), { what: "the end of every accepted job" });
  } finally {
    // Whatever has failed: who asks a router that is closed gets its answer at once, for ever.
    over.abort();
    await Promise.all([working, creating]);
  }

  expect([...finished.values()].filter((times) => times > 1)).toEqual([]);
  expect(
    checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root).map(
      ({ invariant, detail }) => `${invariant}: ${detail}`,
    ),
  ).toEqual([]);
}

test("an owner that stands still is replaced, and does no harm when it goes on", async () => {
  await underLoad(async (accepted) => {
    await waitFor(() => accepted.size > JOBS / 6);
    children.get("api-1")!.kill("SIGSTOP");
    // Other shards go on meanwhile; nobody asks for those of tenants that have none.
    await waitFor(() => accepted.size > JOBS / 2);
    children.get("api-1")!.kill("SIGCONT");
  });
});

test("two owners killed under load, one stopped in order: every accepted job ends once, and the log shows no fault", async () => {
  await underLoad(async (accepted) => {
    await waitFor(() => accepted.size > JOBS / 6);
    await end("api-1", "SIGKILL");
    await waitFor(() => accepted.size > JOBS / 3 && ownedBy("api-1") < 16);
    start("api-3");
    await waitFor(() => ownedBy("api-3") > 0, { what: "the newcomer owning" });
    await end("api-2", "SIGKILL");
    await waitFor(() => accepted.size >= JOBS);
    await end("api-3", "SIGTERM");
  });
});
