import { jobId, ownerOf, paths, type JobId } from "@sluice/queue-core";
import type { ReadAnswer, Session, Stat } from "@sluice/zookeeper";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { done } from "../src/index.ts";
import { OVERDUE_MS, OverdueScan } from "../src/jobs/overdue.ts";
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
    const astray = ids.filter((id) => worked.get(id) !== ownerOf(id, ["a", "b"]));
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

describe("the scan for jobs that wait for over a day", () => {
  const NOW = 10 * OVERDUE_MS;

  function sessionWhere(ctimeOf: (path: string) => number): { session: Session; reads: string[][] } {
    const reads: string[][] = [];
    const session = {
      serverNowMs: () => NOW,
      readMany: (asked: readonly { readonly get: string }[]) => {
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
    const old = jobId(700);
    const { session, reads } = sessionWhere((path) => (path.endsWith(old) ? NOW - OVERDUE_MS - 1 : NOW));
    const found: JobId[] = [];
    const scan = new OverdueScan(session, "Downloading", (id) => found.push(id));
    for (const minute of [0, 0.5, 1, 2, 3]) await scan.look(entries, minute * 60_000);
    expect(reads.map((part) => part.length)).toEqual([500, 500, 200, 500]);
    expect([scan.has(old), scan.has(jobId(1))]).toEqual([true, false]);
    expect(found).toEqual([old]);
    await scan.look(entries.slice(0, 10), 240_000);
    expect(scan.has(old)).toBe(false);
  });
});
