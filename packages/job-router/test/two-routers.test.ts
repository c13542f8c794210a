import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { checkQueue, paths, SHARDS } from "@sluice/job-queue";
import { readTransactions, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { ranking } from "../src/placement.ts";
import {
  commandOf,
  getJob,
  idOf,
  settled,
  startRouter,
  takenOf,
  tenantOwnedBy,
  type TestRouter,
} from "./support/routers.ts";

let zooKeeper: TestZooKeeper;
let first: TestRouter;
let second: TestRouter;

beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  first = await startRouter(zooKeeper.connect, "api-1");
  await settled(first);
  second = await startRouter(zooKeeper.connect, "api-2");
});
afterAll(async () => {
  await first.close();
  await second.close();
});

const ownersOf = ({ router }: TestRouter): readonly (string | null)[] => router.shards().map(({ owner }) => owner);
const placed = (...apiIds: readonly string[]): readonly (string | undefined)[] =>
  Array.from({ length: SHARDS }, (_, shard) => ranking(shard, apiIds)[0]);

test("who comes later is handed the shards that are better placed with it, and no others", async () => {
  await waitFor(() => String(ownersOf(second)) === String(placed("api-1", "api-2")), { what: "the handing over" });
  await settled(first, second);
  expect(ownersOf(first)).toEqual(placed("api-1", "api-2"));
  // Handed over once each, and nobody was deposed.
  const counts = first.router.shards().map(({ term }) => term);
  expect(counts).toEqual(placed("api-1", "api-2").map((owner) => (owner === "api-2" ? 2 : 1)));
});

test("every command is done where its shard is, whoever is asked", async () => {
  const tenant = tenantOwnedBy(second);
  const ask = (verb: string, params: Readonly<Record<string, string | number>> = {}) =>
    first.router.ask(tenant, commandOf(verb, params, tenant));
  const code = async (verb: string, params: Readonly<Record<string, string | number>> = {}): Promise<number> =>
    (await ask(verb, params))?.status.code ?? 0;
  const take = async (): Promise<{ readonly jobID: number; readonly lease: string }> => {
    const taken = takenOf(await ask("GetJob", { name: "fo*" }))!;
    return { jobID: taken.view.jobID, lease: taken.token };
  };

  const id = idOf(await ask("CreateJob", { name: "foo", data: '{"text":"a\\nb ü"}' }));
  expect(takenOf(await second.router.ask(tenant, getJob("nothing", tenant)))).toBeNull();
  const held = await take();
  expect(held.jobID).toBe(id);
  expect(await code("UpdateJob", { ...held, data: '{"n":1}' })).toBe(200);
  const renewed = await first.router.ask(tenant, {
    verb: "RenewLeases",
    tenant,
    leases: [
      { id, token: held.lease },
      { id, token: "1.999" },
    ],
  });
  expect(renewed?.content).toEqual({ kind: "lost", ids: [id] });
  expect(await code("RetryJob", { ...held, delay: 0 })).toBe(200);
  const again = await take();
  expect(await code("FinishJob", { ...held, lease: "1.999" })).toBe(405);
  expect(await code("FinishJob", { ...again })).toBe(200);
  const described = await first.router.ask(tenant, { verb: "DescribeJob", tenant, id });
  expect(described?.content.kind).toBe("record");

  const many = await ask("CreateJobs", { jobs: JSON.stringify([{ name: "foo" }, { name: "fob" }, { name: "foc" }]) });
  const ids = many?.content.kind === "ids" ? many.content.ids : [];
  expect(ids).toHaveLength(3);
  const failing = await take();
  expect(await code("FailJob", { ...failing })).toBe(200);
  expect(await code("RequeueJobs", { jobIDs: failing.jobID })).toBe(200);
  expect(await code("QueryJob", { jobID: failing.jobID })).toBe(200);
  expect(await code("CancelJob", { jobID: failing.jobID })).toBe(200);
  expect(await code("DeleteJob", { jobID: failing.jobID })).toBe(200);
  const listed = await first.router.ask(tenant, { verb: "ListJobs", tenant, names: ["fo*"] });
  expect(listed?.content.kind === "list" ? listed.content.jobs.map(({ jobID }) => jobID) : []).toEqual(
    ids.filter((each) => each !== failing.jobID),
  );
  const counted = await first.router.everyShard({ verb: "CountJobs", tenant: null });
  expect([...counted.values()].map((answer) => answer?.status.code)).toEqual(Array(SHARDS).fill(200));
  const runs = await first.router.ask(tenant, { verb: "ListRuns", tenant, limit: 10 });
  expect(runs?.content.kind === "runs" ? runs.content.runs.map(({ jobID }) => jobID) : []).toContain(id);
  const released = await first.router.askShard(first.router.shardOf(tenant)!, { verb: "ReleaseWorker", worker: "w" });
  expect(released?.status.code).toBe(200);
});

test("who waits at one process gets what comes at the other", async () => {
  const tenant = tenantOwnedBy(second);
  const waiting = first.router.wait(tenant, getJob("awaited", tenant), 60_000, new AbortController().signal);
  await waitFor(() => first.router.stats().waiters === 1);
  const id = idOf(await second.router.ask(tenant, commandOf("CreateJob", { name: "awaited" }, tenant)));
  expect(takenOf(await waiting)?.view.jobID).toBe(id);
});

test("who gives up at one process waits no longer at the other", async () => {
  const tenant = tenantOwnedBy(second);
  const gone = new AbortController();
  const waiting = first.router.wait(tenant, getJob("vain", tenant), 60_000, gone.signal);
  await waitFor(() => first.router.stats().waiters === 1);
  gone.abort();
  expect((await waiting)?.status.code).toBe(404);
  const id = idOf(await first.router.ask(tenant, commandOf("CreateJob", { name: "vain" }, tenant)));
  expect(takenOf(await first.router.ask(tenant, getJob("vain", tenant)))?.view.jobID).toBe(id);
});

test("who stops leaves its shards: requests and waiters go to the other, and nobody is told that it is not known", async () => {
  const tenant = tenantOwnedBy(second);
  const waiting = first.router.wait(tenant, getJob("moved", tenant), 60_000, new AbortController().signal);
  let isOver = false;
  const codes = new Set<number>();
  const load = async (): Promise<void> => {
    while (!isOver)
      codes.add((await first.router.ask(tenant, commandOf("CreateJob", { name: "load" }, tenant)))?.status.code ?? 0);
  };
  const loading = Promise.all(Array.from({ length: 5 }, load));
  await waitFor(() => codes.size > 0);
  await second.stop();
  await waitFor(() => first.router.stats().shardsOwned === SHARDS);
  isOver = true;
  await loading;
  expect([...codes]).toEqual([200]);
  const id = idOf(await first.router.ask(tenant, commandOf("CreateJob", { name: "moved" }, tenant)));
  expect(takenOf(await waiting)?.view.jobID).toBe(id);
  const left = await first.keeper.current()!.children(paths.apis);
  expect(left.ok ? left.value.names : []).toEqual(["api-1"]);
  expect(
    checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root).map(({ detail }) => detail),
  ).toEqual([]);
});

test("a peer with another secret is not heard, and what it owns is not taken from it", async () => {
  const listen = { host: "127.0.0.1", port: 0 };
  const stranger = await startRouter(zooKeeper.connect, "api-3", { peers: { listen, secret: "another" } });
  const placedThere = placed("api-1", "api-3").filter((owner) => owner === "api-3").length;
  expect(placedThere).toBeGreaterThan(0);
  await waitFor(() => stranger.router.shards().every(({ owner }) => owner === "api-1"), {
    what: "the stranger's sight",
  });
  const shard = stranger.router.shards()[0]!.shard;
  const outcome = await stranger.router.routeShard(shard, { verb: "CountJobs", tenant: null }, 300);
  expect(outcome).toEqual({ kind: "unavailable", why: "its owner has another secret" });
  expect(stranger.router.stats().shardsOwned).toBe(0);
  await stranger.close();
});

test("without a secret nobody listens beyond this machine", async () => {
  const peers = { listen: { host: "0.0.0.0", port: 0 }, secret: null };
  await expect(startRouter("127.0.0.1:1", "api-4", { peers })).rejects.toThrow("loopback");
});
