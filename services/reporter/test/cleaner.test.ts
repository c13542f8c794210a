/** Goal: somebody cleans up, whoever is registered for it, and everybody can see when it was last done. */
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { batchId, type Chore, choreDone, expectChore, paths, readChores, records } from "@sluice/queue-core";
import { testWorker, type TestWorker, testZooKeeper } from "@sluice/testkit";
import type { Session } from "@sluice/zookeeper";
import { type CLEANERS, makeCleaner } from "../src/cleaner.ts";
import { cleanUpSweep } from "../src/sweeps/clean-up.ts";
import { aJobRunner, handlerContext, logbook } from "./support.ts";

const HOUR_MS = 3_600_000;
let connect: string;
let worker: TestWorker;

beforeEach(async () => {
  ({ connect } = await testZooKeeper());
  worker = await testWorker(connect, "reporter");
});
afterEach(() => worker.close());

const doneAgo = async (chore: Chore, hours: number): Promise<void> => {
  const done = Math.floor(worker.session.serverNowMs() - hours * HOUR_MS);
  const data = records.chore.encode({ done });
  expect(await worker.session.multi([{ op: "create", path: paths.chore(chore), data }])).toMatchObject({ ok: true });
};

describe("clean-up beside a job-runner that is registered", () => {
  const look = async (log = logbook()) => {
    const seen: (typeof CLEANERS)[number][] = [];
    const cleaner = makeCleaner((who) => seen.push(who));
    const ours = await cleaner.isOurs(worker.session, log.log);
    expect(seen).toEqual([ours ? "reporter" : "job-runner"]);
    return { who: seen[0], notes: log.notes };
  };

  test("is left to it as long as it does it, and taken back when it has not done it for over a day", async () => {
    const runner = await aJobRunner(connect);
    await doneAgo("ordered-clean-up", 26);
    const back = await look();
    expect(back.who).toBe("reporter");
    expect(back.notes).toMatchObject([expect.stringMatching(/^warn: .*looked for by .*registered-only/)]);

    await choreDone(worker.session, "ordered-clean-up");
    expect(await look()).toEqual({ who: "job-runner", notes: [] });
    await runner.leave();
    expect((await look()).who).toBe("reporter");
  });

  test.each([
    ["has never done it", () => Promise.resolve(true)],
    ["is expected to do it, and has not yet", () => expectChore(worker.session, "ordered-clean-up")],
  ])("is done by the reporter while the runner %s", async (_, before) => {
    const runner = await aJobRunner(connect);
    await before();
    expect((await look()).who).toBe("reporter");
    await runner.leave();
  });
});

describe("what the tree says of chores", () => {
  const sweep = async (
    mood: "archives" | "refuses" | "is-faster",
    session: Session = worker.session,
  ): Promise<void> => {
    const id = batchId(7);
    const data = records.batchStatus.encode({ status: "Completed", last_modified: "", message: "" });
    const none = Buffer.alloc(0);
    const listed = { path: paths.fleetBatch("Completed", id), data: none };
    const batch = [
      { path: paths.batch(id), data: none },
      { path: paths.batchStatus(id), data },
    ];
    const planted = mood === "archives" ? [] : mood === "refuses" ? [listed, ...batch] : [listed];
    await worker.session.multi(planted.map((each) => ({ op: "create", ...each })));
    const duty = cleanUpSweep(
      {
        archive: { archiveBatch: () => Promise.resolve({ kind: "unavailable", message: "away" }) },
        recycled: { take: () => Promise.resolve(), remove: () => Promise.resolve(), list: () => Promise.resolve([]) },
      },
      makeCleaner(),
      { everyMs: HOUR_MS, retentionMs: -HOUR_MS },
    );
    await duty.run({ ...handlerContext(), queue: { ...worker.ctx, session }, worker: "w" });
  };
  const hoursAgo = async (chore: Chore, laterMs = 0): Promise<number> => {
    const done = (await readChores(worker.session))?.get(chore)?.done ?? NaN;
    return Math.round((worker.session.serverNowMs() + laterMs - done) / HOUR_MS);
  };
  /** The same session, which answers one thing otherwise. */
  const bent = (name: "children" | "serverNowMs", answer: () => unknown): Session =>
    new Proxy(worker.session, {
      get(target, key) {
        if (key === name) return answer;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  const later = (ms: number): Session => bent("serverNowMs", () => worker.session.serverNowMs() + ms);

  test("is that clean-up and archiving were done, when there was nothing to do either", async () => {
    await doneAgo("archive", 5);
    await sweep("archives");
    expect([await hoursAgo("clean-up"), await hoursAgo("archive")]).toEqual([0, 0]);
  });

  test("is that archiving was done, when another one cleaned up a batch between the list and the look", async () => {
    await doneAgo("archive", 5);
    await sweep("is-faster");
    expect(await hoursAgo("archive")).toBe(0);
  });

  test("is not that clean-up was done when nobody answered which batches are over", async () => {
    const silence = { ok: false, code: "UNKNOWN", detail: "" } as const;
    const deaf = bent("children", () => Promise.resolve(silence));
    await doneAgo("clean-up", 5);
    await sweep("archives", deaf);
    expect(await hoursAgo("clean-up")).toBe(5);
  });

  test("is that both are expected from the first start of a reporter on, so that what never succeeds is missed, too", async () => {
    await sweep("refuses");
    const chores = await readChores(worker.session);
    expect(chores?.get("clean-up")).not.toHaveProperty("expected");
    expect(chores?.get("archive")).toMatchObject({ expected: true });
  });

  test.each([
    [0, 0],
    [1, 5],
  ])(
    "is, beside a runner that orders clean-ups, judged by the orders: one that stands for %s h, archived %s h ago",
    async (standsHours, archivedHours) => {
      const runner = await aJobRunner(connect, "does-its-work");
      await doneAgo("archive", 5);
      await worker.session.multi([{ op: "create", path: paths.cleanUp(batchId(7)), data: Buffer.alloc(0) }]);
      await sweep("archives", later(standsHours * HOUR_MS));
      expect(await hoursAgo("archive", standsHours * HOUR_MS)).toBe(archivedHours + standsHours);
      await runner.leave();
    },
  );

  test("is not that archiving was done while the archive refuses a batch", async () => {
    await doneAgo("archive", 5);
    await sweep("refuses");
    expect([await hoursAgo("clean-up"), await hoursAgo("archive")]).toEqual([0, 5]);
  });
});
