import { jobId, ownerOfShare, paths, shareOf, type JobId } from "@sluice/queue-core";
import type { ReadAnswer, Session, Stat } from "@sluice/zookeeper";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { done } from "../src/index.ts";
import { type Entries, OVERDUE_MS, OverdueScan } from "../src/jobs/overdue.ts";
import { downloading, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

describe("two workers of a stage", () => {
  test("each take their own part first, so that claims are hardly ever refused", async () => {
    const ids = await world.addJobs(40);
    const worked = new Map<JobId, string>();
    const stage = (worker: string) =>
      downloading((job) => {
        worked.set(job.id, worker);
        return Promise.resolve(done());
      });
    await world.write([{ op: "create", path: paths.queuePause, data: Buffer.from("{}") }]);
    const fleet = ["a", "b"].map((name) => world.start("downloader", [stage(name)], { WORKER_ID: name }));
    for (const { recorder } of fleet) await recorder.until("closed", 2);
    const holds = await world.session.get(paths.holds);
    await world.write([
      { op: "set", path: paths.holds, data: Buffer.from("1"), version: holds.ok ? holds.value.stat.version : NaN },
      { op: "delete", path: paths.queuePause, version: 0 },
    ]);
    while (worked.size < ids.length)
      await Promise.race(fleet.map(({ recorder }) => recorder.settled(recorder.all("settled").length + 1)));
    const astray = ids.filter((id) => worked.get(id) !== ownerOfShare(shareOf(id), ["a", "b"]));
    expect(astray.length).toBeLessThan(ids.length / 2);
  });

  test("the jobs of one that does not take them are taken by the other", async () => {
    const stuck = world.start("downloader", [downloading(() => new Promise(() => undefined))], {
      WORKER_ID: "stuck",
      STAGE_CONCURRENCY: "1",
      SHUTDOWN_GRACE_MS: "1",
    });
    const first = await world.addJob({ number: 1 });
    await stuck.recorder.until("claimed");
    const other = world.start("downloader", [downloading(() => Promise.resolve(done()))], { WORKER_ID: "other" });
    const rest = Array.from({ length: 10 }, (_, i) => i + 2);
    for (const number of rest) await world.addJob({ number });
    const settled = await other.recorder.settled(rest.length);
    expect(settled.map(({ job }) => job)).not.toContain(first);
  });
});

describe("a collection with a thousand waiting jobs", () => {
  const CONCURRENCY = 4;
  /** What a worker may have looked at and claimed before it knows whose the thousand are. */
  const CLAIMS_BEFORE = 4 * CONCURRENCY;
  const many = (count: number): Promise<JobId[]> => world.addJobs(count, { profile: "crowd_content" });

  /** In the order in which they were claimed. */
  async function claimed(count: number, concurrency = CONCURRENCY): Promise<JobId[]> {
    const { recorder } = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      STAGE_CONCURRENCY: String(concurrency),
    });
    return (await recorder.until("claimed", count)).map(({ job }) => job as JobId);
  }

  test("does not delay the one job of another by more than a few claims", async () => {
    await many(1_000);
    const lone = await world.addJob({ number: 2_000, profile: "lone_content" });
    const order = await claimed(60);
    expect(order.indexOf(lone)).not.toBe(-1);
    expect(order.indexOf(lone)).toBeLessThan(CLAIMS_BEFORE);
  });

  test("takes turns with another that has as many, and each keeps its order", async () => {
    const crowd = await many(200);
    const others: JobId[] = [];
    for (let number = 1_001; number <= 1_040; number++)
      others.push(await world.addJob({ number, profile: "other_content" }));
    const order = await claimed(100);
    expect(order.filter((id) => others.includes(id))).toEqual(others);
    expect(order.filter((id) => crowd.includes(id))).toEqual(crowd.slice(0, order.length - others.length));
  });

  test("still goes first where its jobs are more urgent", async () => {
    const lone = await world.addJob({ number: 1_000, profile: "lone_content", priority: 11 });
    const crowd = await many(100);
    const order = await claimed(101, 1); // with more, one place is lent to another collection
    expect(order.slice(0, 100)).toEqual(crowd);
    expect(order[100]).toBe(lone);
  });

  test("cannot hold all places of a worker while another waits", async () => {
    const held = await many(10);
    const stage = downloading((job) =>
      held.includes(job.id) ? new Promise(() => undefined) : Promise.resolve(done()),
    );
    const { recorder } = world.start("downloader", [stage], {
      STAGE_CONCURRENCY: String(CONCURRENCY),
      SHUTDOWN_GRACE_MS: "1",
    });
    await recorder.until("claimed", CONCURRENCY);
    const lone = [];
    for (const number of [2_001, 2_002]) lone.push(await world.addJob({ number, profile: "lone_content" }));
    expect((await recorder.settled(2)).map(({ job }) => job)).toEqual(lone);
    expect(recorder.all("claimed")).toHaveLength(CONCURRENCY + 2);
  });
});

describe("the scan for jobs that wait for over a day", () => {
  const NOW = 10 * OVERDUE_MS;

  function sessionWhere(ctimeOf: (path: string) => number): { session: Session; reads: string[][] } {
    const reads: string[][] = [];
    const session = {
      serverNowMs: () => NOW,
      readEach: (asked: readonly { readonly get: string }[]) => {
        reads.push(asked.map(({ get }) => get));
        const value = asked.map(({ get }): ReadAnswer => ({
          kind: "node",
          node: { data: Buffer.alloc(0), stat: { ctime: ctimeOf(get) } as Stat },
        }));
        return Promise.resolve({ ok: true, value });
      },
    } as unknown as Session;
    return { session, reads };
  }

  test("finds them, a few hundred entries a minute, in turn", async () => {
    const entries = Array.from({ length: 1_200 }, (_, i) => ({ priority: 50, id: jobId(i) }));
    const listed = (count: number): Entries => ({
      length: count,
      at: (position) => entries[position]!,
      positionOf: ({ id }) => entries.slice(0, count).findIndex((entry) => entry.id === id),
    });
    const old = jobId(700);
    const { session, reads } = sessionWhere((path) => (path.endsWith(old) ? NOW - OVERDUE_MS - 1 : NOW));
    const found: JobId[] = [];
    const scan = new OverdueScan(session, "Downloading", (id) => found.push(id));
    for (const minute of [0, 0.5, 1, 2, 3]) await scan.look(listed(1_200), minute * 60_000);
    expect(reads.map((part) => part.length)).toEqual([500, 500, 200, 500]);
    expect([scan.has(old), scan.has(jobId(1))]).toEqual([true, false]);
    expect(found).toEqual([old]);
    await scan.look(listed(10), 240_000);
    expect(scan.has(old)).toBe(false);
  });
});
