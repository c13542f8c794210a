/** Peers that cannot hear each other: what is asked is done once, and shards change hands only so often. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { checkQueue } from "@sluice/job-queue";
import { readTransactions, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
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
import { startTcpProxy, type TcpProxy } from "./support/tcp-proxy.ts";

let zooKeeper: TestZooKeeper;
/** The way from the first to the second. */
let proxy: TcpProxy;
let first: TestRouter;
let second: TestRouter;
let taken: string[];

beforeEach(async () => {
  zooKeeper = await testZooKeeper();
  proxy = await startTcpProxy();
  const port = await freePort();
  proxy.lead(port);
  taken = [];
  const hooks = { onTakeover: (from: string) => void taken.push(from) };
  first = await startRouter(zooKeeper.connect, "api-1", { hooks });
  second = await startRouter(zooKeeper.connect, "api-2", {
    peers: { listen: { host: "127.0.0.1", port }, advertise: { port: proxy.port }, secret: "a secret of the test" },
  });
  await waitFor(() => second.router.stats().shardsOwned > 0 && first.router.stats().shardsOwned > 0);
  await settled(first, second);
  // Through the proxy, and not only in the tree: what is given to a line that is just being made may be sent, and then lost.
  await waitFor(() => first.router.shards().every(({ shard }) => first.router.isServed(shard)));
  taken.length = 0;
});
afterEach(async () => {
  await first.close();
  await second.close();
  proxy.close();
});

const create = (tenant: string, name = "foo") => first.router.ask(tenant, commandOf("CreateJob", { name }, tenant));
const violations = (): readonly string[] =>
  checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root).map(({ detail }) => detail);

test("over a line that breaks again and again everything that is asked is answered, and done once", async () => {
  const tenant = tenantOwnedBy(second);
  const ids: number[] = [];
  const load = async (): Promise<void> => {
    while (ids.length < 300) ids.push(idOf(await create(tenant)));
  };
  const loading = Promise.all(Array.from({ length: 8 }, load));
  for (let cuts = 0; cuts < 8; cuts++) {
    const before = ids.length;
    await waitFor(() => ids.length > before + 10 || ids.length >= 300);
    proxy.cut();
  }
  await loading;
  const listed = await second.router.ask(tenant, { verb: "ListJobs", tenant, limit: 10_000 });
  const there = listed?.content.kind === "list" ? listed.content.jobs.map(({ jobID }) => jobID) : [];
  expect(there).toEqual([...ids].sort((a, b) => a - b));
  expect(taken).toEqual([]);
  expect(violations()).toEqual([]);
});

test("who waits over a line that breaks waits on", async () => {
  const tenant = tenantOwnedBy(second);
  const waiting = first.router.wait(tenant, getJob("later", tenant), 60_000, new AbortController().signal);
  await waitFor(() => first.router.stats().waiters === 1);
  proxy.cut();
  const id = idOf(await second.router.ask(tenant, commandOf("CreateJob", { name: "later" }, tenant)));
  expect(takenOf(await waiting)?.view.jobID).toBe(id);
});

test("an owner that cannot be reached is deposed by who needs it, once in ten seconds", async () => {
  const tenant = tenantOwnedBy(second);
  const shard = first.router.shardOf(tenant)!;
  const before = first.router.shards()[shard]!.term!;
  proxy.refuse();
  // What is given to a line that has just broken is not known to have arrived.
  await waitFor(() => !first.router.isServed(shard));
  // All that are asked at once find out together.
  const answers = await Promise.all(Array.from({ length: 20 }, () => create(tenant)));
  expect(answers.map((answer) => answer?.status.code ?? 0).filter((code) => code !== 200)).toEqual([]);
  expect(taken).toEqual(["peer"]);
  await waitFor(() => second.router.shards()[shard]!.owner === "api-1");
  expect(first.router.shards()[shard]).toMatchObject({ owner: "api-1", term: before + 1 });
  // The deposed one is better placed and alive: it asks, and is not given what could not be reached there.
  const id = idOf(await second.router.ask(tenant, commandOf("CreateJob", { name: "bar" }, tenant)));
  expect(takenOf(await first.router.ask(tenant, getJob("bar", tenant)))?.view.jobID).toBe(id);
  expect(first.router.shards()[shard]!.term).toBe(before + 1);
  expect(violations()).toEqual([]);
});

test("an owner that is silent is deposed after three timeouts, and what it was asked is not known", async () => {
  const tenant = tenantOwnedBy(second);
  proxy.swallow(true);
  const outcome = await first.router.route(tenant, commandOf("CreateJob", { name: "foo" }, tenant));
  expect(outcome.kind).toBe("unknown");
  expect((await create(tenant))?.status.code).toBe(200);
  expect(taken).toEqual(["peer"]);
  proxy.swallow(false);
  // What only reads is asked again.
  expect(violations()).toEqual([]);
});
