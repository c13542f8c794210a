/** Jobs by turns, for who serves every tenant, wherever the tenants' shards are. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { shardOfTenant } from "@sluice/job-queue";
import { testZooKeeper, waitFor } from "@sluice/testkit";
import type { Take, TakenJob } from "../src/take/take.ts";
import { commandOf, idOf, settled, startRouter, tenantOwnedBy, type TestRouter } from "./support/routers.ts";

let routers: readonly TestRouter[];

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  routers = await Promise.all(["api-1", "api-2", "api-3"].map((apiId) => startRouter(connect, apiId)));
  await waitFor(() => routers.every(({ router }) => router.stats().shardsOwned > 0), { what: "shards for each" });
  await settled(...routers);
});
afterAll(async () => {
  await Promise.all(routers.map((each) => each.close()));
});

const never = new AbortController().signal;
const take = (asked: Partial<Take> = {}, at = 0): Promise<readonly TakenJob[]> =>
  routers[at]!.router.take({ worker: "w", tenants: "all", limit: 1, waitMs: 30_000, gone: never, ...asked });

async function create(tenant: string, name: string, count = 1): Promise<void> {
  for (let left = count; left > 0; left -= 2_000) {
    const jobs = JSON.stringify(Array.from({ length: Math.min(left, 2_000) }, () => ({ name })));
    idOf(await routers[1]!.router.ask(tenant, commandOf("CreateJobs", { jobs }, tenant)));
  }
}

/** Once this comes, everything before it in its shard is known here too. */
async function isKnown(tenant: string): Promise<void> {
  for (let n = 0; ; n++) {
    const beside = `beside-${n}`;
    if (shardOfTenant(beside) !== shardOfTenant(tenant)) continue;
    await create(beside, "known");
    const [job] = await take({ tenants: [beside], types: ["known"] });
    expect(job?.tenant).toBe(beside);
    return;
  }
}

test("a tenant with one job has its turn within 50 picks, behind 49 others, one of which has 20,000", async () => {
  const others = Array.from({ length: 48 }, (_, n) => `tenant-${n}`);
  await create("large", "foo", 20_000);
  for (const tenant of others) await create(tenant, "foo", 20);
  expect(new Set(others.map((tenant) => routers[0]!.router.shards()[shardOfTenant(tenant)]!.owner)).size).toBe(3);
  for (const tenant of ["large", ...others]) await isKnown(tenant);
  for (let n = 0; n < 100; n++) await take();

  for (const small of routers.map((router, n) => tenantOwnedBy(router, `small-${n}-`))) {
    await create(small, "foo");
    await isKnown(small);
    const picked: string[] = [];
    while (picked.at(-1) !== small && picked.length < 60) picked.push((await take())[0]!.tenant);
    expect(picked).toContain(small);
    expect(picked.length).toBeLessThanOrEqual(50);
    expect(new Set(picked).size).toBe(picked.length);
  }
});

test("many at once are given by turns too, and none twice", async () => {
  const jobs = await take({ limit: 98 });
  const counts = new Map<string, number>();
  for (const { tenant } of jobs) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  expect(jobs).toHaveLength(98);
  expect(new Set(jobs.map(({ jobID }) => jobID)).size).toBe(98);
  expect(Math.max(...counts.values())).toBeLessThanOrEqual(3);
});

test("higher priorities go first inside a tenant, and only the types that are asked for", async () => {
  const tenant = tenantOwnedBy(routers[2]!, "ranked-");
  await create(tenant, "plain", 2);
  const urgent = commandOf("CreateJob", { name: "urgent", priority: 1000 }, tenant);
  idOf(await routers[1]!.router.ask(tenant, urgent));
  await isKnown(tenant);
  expect((await take({ tenants: [tenant], types: ["pl*"] }))[0]?.name).toBe("plain");
  expect((await take({ tenants: [tenant] }))[0]?.name).toBe("urgent");
  expect((await take({ tenants: [tenant] }))[0]?.name).toBe("plain");
  expect(await take({ tenants: [tenant], waitMs: 0 })).toEqual([]);
});

test("who waits gets what comes up at another process, once, and who gives up gets none", async () => {
  const tenant = tenantOwnedBy(routers[2]!, "later-");
  const gone = new AbortController();
  const both = [take({ tenants: [tenant], gone: gone.signal }), take({ tenants: [tenant], gone: gone.signal }, 1)];
  await waitFor(() => routers[0]!.router.stats().waiters === 1 && routers[1]!.router.stats().waiters === 1);
  await create(tenant, "foo");
  const got = await Promise.race(both);
  expect(got.map(({ name }) => name)).toEqual(["foo"]);
  gone.abort();
  expect((await Promise.all(both)).flat()).toHaveLength(1);
});

test("what one process gave away is counted by the others, wherever the owner is", async () => {
  const [rich, poor] = [tenantOwnedBy(routers[0]!, "rich-"), tenantOwnedBy(routers[2]!, "poor-")];
  for (const tenant of [rich, poor]) await create(tenant, "share", 40);
  for (const tenant of [rich, poor]) await isKnown(tenant);
  const both = { tenants: [rich, poor], types: ["share"] };
  // This process knows both from now on.
  expect(new Set((await take({ ...both, limit: 2 })).map(({ tenant }) => tenant))).toEqual(new Set([rich, poor]));
  await take({ tenants: [rich], types: ["share"], limit: 12 }, 1);
  await waitFor(() => routers[0]!.router.usage().some(({ tenant, running }) => tenant === rich && running >= 13));
  const next = await take({ ...both, limit: 10 });
  expect(next.filter(({ tenant }) => tenant === poor).length).toBeGreaterThanOrEqual(9);
});
