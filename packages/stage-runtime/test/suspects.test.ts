/** A job that kills its workers must not take its neighbours with it. */
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import type { JobId } from "@sluice/queue-core";
import { done } from "../src/index.ts";
import { downloading, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

const DIED = { attempts: 2, claimed: [1, "w"] as [number, string] };

test("jobs whose workers died twice are worked one at a time, beside others", async () => {
  for (const number of [1, 2, 3]) await world.addJob({ number, fleetJob: DIED });
  for (const number of [4, 5, 6]) await world.addJob({ number });
  const now = new Set<JobId>();
  let mostSuspects = 0;
  let mostAtOnce = 0;
  const gates: (() => void)[] = [];
  const { recorder } = world.start(
    "downloader",
    [
      downloading(async (job) => {
        now.add(job.id);
        mostAtOnce = Math.max(mostAtOnce, now.size);
        mostSuspects = Math.max(mostSuspects, [...now].filter((id) => Number(id.slice(3)) <= 3).length);
        if (job.attempt === 1) await new Promise<void>((open) => gates.push(open));
        now.delete(job.id);
        return done();
      }),
    ],
    { STAGE_CONCURRENCY: "6" },
  );
  await recorder.settled(3);
  gates.forEach((open) => open());
  await recorder.settled(6);
  expect(mostSuspects).toBe(1);
  expect(mostAtOnce).toBeGreaterThan(1);
});

test("a retry that was said in so many words makes no suspect", async () => {
  for (const number of [1, 2, 3]) await world.addJob({ number, fleetJob: { attempts: 2 } });
  let now = 0;
  let most = 0;
  let meet: () => void = () => undefined;
  const met = new Promise<void>((resolve) => (meet = resolve));
  const { recorder } = world.start(
    "downloader",
    [
      downloading(async () => {
        now += 1;
        most = Math.max(most, now);
        if (now === 3) meet();
        await met;
        return done();
      }),
    ],
    { STAGE_CONCURRENCY: "3" },
  );
  await recorder.settled(3);
  expect(most).toBe(3);
});

test("what is taken over from a lost worker is counted, from zero on", async () => {
  await world.addJob({ number: 1 });
  await world.addJob({ number: 2, fleetJob: { attempts: 1, claimed: [1, "w"] } });
  const { recorder, service } = world.start("downloader", [downloading(() => Promise.resolve(done()))]);
  await recorder.settled(2);
  const text = await (await fetch(`${service.opsUrl ?? ""}/metrics`)).text();
  expect(text).toContain('sluice_stage_abandoned_jobs_total{stage="downloader"} 1');
  expect(text).toContain('sluice_stage_jobs_total{stage="downloader",outcome="done"} 2');
  expect(text).toContain('sluice_stage_jobs_total{stage="downloader",outcome="fail"} 0');
});
