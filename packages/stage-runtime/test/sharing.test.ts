/** Several workers of one stage on a real ZooKeeper: whose an entry is, with a clock that stands still. */
import { jobId, ownerOfShare, paths, shareOf } from "@sluice/queue-core";
import { waitFor } from "@sluice/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { done, type Duty } from "../src/index.ts";
import { downloading, type RunningService, World } from "./support/world.ts";

/** Nobody can have waited for a second, so nothing is ever left over; lists are made when a watch says so. */
const CLOCK = { nowMs: () => Date.now(), monotonicMs: () => 0 };
const QUIET = { POLL_INTERVAL_MS: "60000", IDLE_POLL_INTERVAL_MS: "600000" };
const JOBS = Array.from({ length: 12 }, (_, i) => jobId(i + 1));

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

const quick = downloading(() => Promise.resolve(done()));

/** Each knows of all: whoever was there before has listed again since the last one came. */
async function startAll(names: readonly string[], duty: Duty = quick): Promise<readonly RunningService[]> {
  const running: RunningService[] = [];
  for (const name of names) {
    const lists = running.map(({ recorder }) => recorder.all("listed").length);
    const next = world.start("downloader", [duty], { ...QUIET, WORKER_ID: name }, {}, { clock: CLOCK });
    await next.recorder.until("idle");
    await Promise.all(running.map(({ recorder }, i) => recorder.until("listed", (lists[i] ?? 0) + 1)));
    running.push(next);
  }
  return running;
}

async function listedAgain(running: RunningService | undefined, act: () => Promise<void>): Promise<void> {
  const lists = running?.recorder.all("listed").length ?? 0;
  await act();
  await running?.recorder.until("listed", lists + 1);
}

const claimedBy = (running: RunningService | undefined): string[] =>
  (running?.recorder.all("claimed") ?? []).map(({ job }) => job).sort();

/** Claims that came to nothing. */
async function refusals({ service }: RunningService): Promise<number> {
  const text = await (await fetch(`${service.opsUrl ?? ""}/metrics`)).text();
  const counts = [...text.matchAll(/^sluice_lock_results_total\{result="(?:held|gone|unknown)"\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}

describe("the workers of a stage", () => {
  test("leave others' fresh entries alone, so that no claim is refused", async () => {
    const names = ["w-a", "w-b", "w-c"];
    const all = await startAll(names);
    await world.addJobs(JOBS.length);
    await waitFor(() => all.flatMap(({ recorder }) => recorder.all("settled")).length === JOBS.length);
    expect(all.map(claimedBy)).toEqual(
      names.map((name) => JOBS.filter((id) => ownerOfShare(shareOf(id), names) === name)),
    );
    expect(await Promise.all(all.map(refusals))).toEqual([0, 0, 0]);
  });

  test("share out the part of one that an operator drains", async () => {
    const [drained, other] = await startAll(["w-a", "w-b"]);
    await listedAgain(other, () => world.write([{ op: "create", path: paths.drain("w-a"), data: Buffer.from("{}") }]));
    await world.addJobs(JOBS.length);
    await other?.recorder.settled(JOBS.length);
    expect(claimedBy(drained)).toEqual([]);
  });

  test("share out the part of one that is about to end, while it finishes what it has", async () => {
    let letGo = (): void => undefined;
    const gone = new Promise<void>((resolve) => (letGo = resolve));
    const patient = downloading(async ({ id }) => {
      if (id === jobId(99)) await gone;
      return done();
    });
    const all = await startAll(["w-a", "w-b"], patient);
    await world.addJob({ number: 99 });
    await waitFor(() => all.some(({ recorder }) => recorder.all("claimed").length === 1));
    const busy = all.find(({ recorder }) => recorder.all("claimed").length === 1);
    const other = all.find((each) => each !== busy);
    await listedAgain(other, () => Promise.resolve(busy?.service.ring()));
    await world.addJobs(JOBS.length);
    await other?.recorder.settled(JOBS.length);
    expect(claimedBy(busy)).toEqual([jobId(99)]);
    letGo();
    expect(await busy?.code).toBe(0);
  });
});
