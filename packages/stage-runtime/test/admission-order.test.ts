/** Who is admitted first, also when thousands wait. */
import { type JobId, jobId, ownerOf, paths } from "@sluice/queue-core";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import type { Fault, Session } from "@sluice/zookeeper";
import { makeLog, silentLog } from "../src/index.ts";
import type { Scope } from "../src/engine/scope.ts";
import { Waker } from "../src/engine/waker.ts";
import { AdmissionPicker } from "../src/jobs/admission-picker.ts";
import { OVERDUE_MS } from "../src/jobs/overdue.ts";
import { newsOf } from "../src/jobs/reasons.ts";
import { unseenMetrics } from "../src/observe/metrics.ts";
import { decide, provisioning, wholeVolume } from "./support/volume.ts";
import { World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

/** A picker on the real tree, with a session that the test may bend. */
function pickerOn(session: Session, log = silentLog(), members: readonly string[] = ["a"], worker = "a") {
  const metrics = unseenMetrics();
  const at = { nowMs: 0 };
  const scope = {
    actor: { stage: "provisioner", worker },
    queue: { ...world.queue, session, clock: { nowMs: Date.now, monotonicMs: () => at.nowMs } },
    settings: { pollMs: 2_000, idlePollMs: 30_000, concurrency: 4, attemptsMax: 5 },
    members: { onChange: () => undefined, list: () => Promise.resolve(members) },
    random: () => 0,
    fleetIdGuard: { check: () => Promise.resolve() },
    pulse: { sawQueue: () => undefined },
    probe: () => undefined,
    inHand: { has: () => false },
    metrics,
    log,
  } as unknown as Scope;
  const picker = new AdmissionPicker(scope, "Provisioning", { survey: wholeVolume, decide }, new Waker());
  const pick = async (free: number): Promise<JobId[]> => (await picker.pick(free)).map(({ entry }) => entry.id);
  return { at, metrics, pick };
}

const bent = (changes: Partial<Session>): Session =>
  new Proxy(world.session, {
    get: (target, key) => {
      const value: unknown = key in changes ? Reflect.get(changes, key) : Reflect.get(target, key, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });

test("jobs are admitted, in their order, while 6,000 wait", async () => {
  const ids = await world.addJobs(6_000, { state: "Provisioning" });
  const { recorder } = world.start("provisioner", [provisioning()], { STAGE_CONCURRENCY: "20" });
  const settled = await recorder.settled(500);
  const taken = new Set(settled.map(({ job }) => job));
  expect(ids.slice(0, 400).filter((id) => !taken.has(id))).toEqual([]);
});

test("collections are admitted in turns where there is not room for all", async () => {
  const crowd = await world.addJobs(50, { state: "Provisioning", profile: "crowd_content", spaceNeeded: 10 });
  const lone = await world.addJob({ number: 900, state: "Provisioning", profile: "lone_content", spaceNeeded: 10 });
  const { pick } = pickerOn(world.session);
  expect(await pick(20)).toEqual([crowd[0], lone, ...crowd.slice(1, 9)]);
});

test("an urgent job that comes while others are admitted already goes before them", async () => {
  await world.addJobs(50, { state: "Provisioning" });
  const { at, pick } = pickerOn(world.session);
  expect(await pick(2)).toEqual([jobId(1), jobId(2)]);
  await world.addJob({ number: 99, state: "Provisioning", priority: 0 });
  at.nowMs = 2_000;
  expect((await pick(2))[0]).toBe(jobId(99));
});

test("only what can be claimed next is looked at, and the rest stays in order", async () => {
  await world.addJobs(50, { state: "Provisioning" });
  const looks: number[] = [];
  const session = bent({
    readEach: (reads) => {
      if (reads.some((read) => "get" in read && read.get === paths.jobLock(jobId(1)))) looks.push(reads.length);
      return world.session.readEach(reads);
    },
  });
  const { pick } = pickerOn(session);
  const picked = [...(await pick(3)), ...(await pick(3))];
  expect(looks).toEqual([2 * 3 * 3]);
  expect(picked).toEqual([1, 2, 3, 4, 5, 6].map(jobId));
});

test("a job that has waited for over a day is judged and taken before all others", async () => {
  const old = await world.addJob({ number: 1, state: "Provisioning", priority: 90, spaceNeeded: 60 });
  await waitFor(async () => {
    const stat = await world.session.exists(paths.queueEntry("Provisioning", 90, old));
    return stat.ok && stat.value !== null && stat.value.ctime < Date.now();
  });
  await world.addJob({ number: 2, state: "Provisioning", priority: 5, spaceNeeded: 60 });
  const [first, second] = await Promise.all(
    [paths.queueEntry("Provisioning", 90, old), paths.queueEntry("Provisioning", 5, jobId(2))].map(async (path) => {
      const stat = await world.session.exists(path);
      return stat.ok ? (stat.value?.ctime ?? NaN) : NaN;
    }),
  );
  const { pick } = pickerOn(bent({ serverNowMs: () => OVERDUE_MS + second! }));
  expect(first).toBeLessThan(second!);
  expect(await pick(2)).toEqual([old]);
});

test("a look that fails is counted each time, told seldom, and tried again", async () => {
  await world.addJobs(3, { state: "Provisioning" });
  const lines: string[] = [];
  let broken = true;
  const notSent: Fault = { ok: false, code: "NOT_SENT", detail: "too large" };
  const session = bent({
    readEach: (reads) =>
      broken && reads.some((read) => "get" in read && read.get.endsWith("/lock"))
        ? Promise.resolve(notSent)
        : world.session.readEach(reads),
  });
  const log = makeLog("test", "error", { write: (line: string) => lines.push(line) });
  const { metrics, pick } = pickerOn(session, log);
  expect([await pick(1), await pick(1)]).toEqual([[], []]);
  expect((await metrics.engineErrors.get()).values).toMatchObject([{ value: 2 }]);
  expect(lines).toHaveLength(1);
  broken = false;
  expect(await pick(1)).toEqual([jobId(1)]);
});

test("one of several provisioners admits, and the others what it leaves lying for a second", async () => {
  await world.addJobs(3, { state: "Provisioning" });
  const all = ["a", "b"];
  const admitting = ownerOf("admission", all);
  const of = (name: string | undefined) => pickerOn(world.session, silentLog(), all, name);
  const [admits, waits] = [of(all.find((name) => name === admitting)), of(all.find((name) => name !== admitting))];
  expect(await waits.pick(4)).toEqual([]);
  expect(await admits.pick(1)).toEqual([jobId(1)]);
  waits.at.nowMs = 999;
  expect(await waits.pick(4)).toEqual([]);
  waits.at.nowMs = 1_000;
  expect(await waits.pick(4)).toEqual([1, 2, 3].map(jobId));
});

test("every one of thousands that wait gets its reason; figures are kept up to date for those that are next", () => {
  const waiting = (left: string) =>
    Array.from({ length: 3_000 }, (_, i) => ({
      entry: { id: jobId(i), priority: 10 },
      why: `needs 5 GB, ${left} left`,
    }));
  const told = new Map<JobId, { why: string; atMs: number }>();
  const rounds = Array.from({ length: 10 }, (_, round) => {
    const news = newsOf(waiting(`${round}.5 MB`), told, round * 60_000);
    for (const { entry, why } of news) told.set(entry.id, { why, atMs: round * 60_000 });
    return news.length;
  });
  expect(told.size).toBe(3_000);
  expect(rounds).toEqual([500, 500, 500, 500, 500, 500, 500, 200, 100, 100]);
  const others = waiting("0.5 MB").map((job) => ({ ...job, why: "room is kept for jid0000000007" }));
  expect(newsOf(others, told, 3_600_000)).toHaveLength(500);
});
