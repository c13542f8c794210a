import { jobId, paths } from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { type AdmissionCandidate, type AdmissionVerdicts, done, type JobStage } from "../src/index.ts";
import { World } from "./support/world.ts";

/** All of a volume of 100 bytes may be given away, in the order of the candidates. */
function decide(candidates: readonly AdmissionCandidate[], reservedBytes: number): AdmissionVerdicts {
  let left = 100 - reservedBytes;
  const judge = (spaceNeeded: number): Verdict => {
    if (spaceNeeded > left) return { admit: false, why: `needs ${spaceNeeded}, ${left} left` };
    left -= spaceNeeded;
    return { admit: true };
  };
  return new Map(candidates.map(({ id, spaceNeeded }) => [id, judge(spaceNeeded)]));
}

type Verdict = AdmissionVerdicts extends ReadonlyMap<unknown, infer V> ? V : never;

const provisioning = (handle: JobStage["handle"] = () => Promise.resolve(done())): JobStage => ({
  kind: "job-stage",
  takes: "Provisioning",
  handle,
  admit: { survey: () => Promise.resolve({ totalBytes: 100, freeBytes: 100 }), decide },
});

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

const inDownloading = async (): Promise<number> => (await world.children(paths.queue("Downloading"))).length;

describe("admission", () => {
  test("lets on what there is room for, beside what is promised already, and says why the rest waits", async () => {
    await world.addJob({ number: 1, state: "Recording", spaceNeeded: 30 });
    await world.addJob({ number: 2, state: "Failed", spaceNeeded: 20 });
    await world.addJob({ number: 3, state: "Provisioning", priority: 1, spaceNeeded: 60 });
    const small = await world.addJob({ number: 4, state: "Provisioning", priority: 2, spaceNeeded: 40 });
    const { recorder } = world.start("provisioner", [provisioning()]);
    expect(await recorder.settled()).toMatchObject([{ job: small, to: "Downloading" }]);
    const waiting = await waitFor(async () => {
      const fleetJob = await world.fleetJob(jobId(3));
      return fleetJob.why === undefined ? null : fleetJob;
    });
    expect(waiting).toMatchObject({ attempts: 0, why: "needs 60, 50 left" });
    expect(await world.status(jobId(3))).toMatchObject({ status: "Provisioning" });
  });

  test("lets a waiting job on when room becomes free, though nothing in its queue changed", async () => {
    await world.addJob({ number: 1, state: "Completed", spaceNeeded: 90 });
    await world.addJob({ number: 2, state: "Provisioning", spaceNeeded: 60 });
    const { recorder } = world.start("provisioner", [provisioning()]);
    await recorder.until("idle");
    await world.write([{ op: "delete", path: paths.queueEntry("Completed", 10, jobId(1)), version: 0 }]);
    expect(await recorder.settled()).toMatchObject([{ job: jobId(2), to: "Downloading" }]);
  });

  test("gives no room away twice when two provisioners have judged before either has admitted", async () => {
    let letBothGo = (): void => undefined;
    const bothClaimed = new Promise<void>((resolve) => (letBothGo = resolve));
    const patient = provisioning(async () => {
      await bothClaimed;
      return done();
    });
    await world.addJob({ number: 1, state: "Provisioning", priority: 50, spaceNeeded: 60 });
    const first = world.start("provisioner", [patient]);
    await first.recorder.until("claimed");
    await world.addJob({ number: 2, state: "Provisioning", priority: 1, spaceNeeded: 60 });
    const second = world.start("provisioner", [patient]);
    await second.recorder.until("claimed");
    letBothGo();
    const outcomes = [...(await first.recorder.settled()), ...(await second.recorder.settled())].map(
      (each) => each.outcome,
    );
    expect(outcomes.sort()).toEqual(["done", "snooze"]);
    expect(await inDownloading()).toBe(1);
  });

  test("by three provisioners at once gives away what there is, and no more", async () => {
    const made = Array.from({ length: 30 }, (_, i) => i + 1);
    for (const number of made) await world.addJob({ number, state: "Provisioning", spaceNeeded: 20 });
    const fleet = [1, 2, 3].map(() => world.start("provisioner", [provisioning()], { STAGE_CONCURRENCY: "4" }));
    await waitFor(async () => (await inDownloading()) === 5);
    for (const { recorder } of fleet) await recorder.until("idle", recorder.all("idle").length + 2);
    expect(await inDownloading()).toBe(5);
  });

  test("counts what it has in hand as given away", async () => {
    for (const number of [1, 2]) await world.addJob({ number, state: "Provisioning", spaceNeeded: 60 });
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const stage = provisioning(async () => {
      await gate;
      return done();
    });
    const { recorder } = world.start("provisioner", [stage], { STAGE_CONCURRENCY: "4" });
    await recorder.until("claimed");
    await recorder.until("idle", recorder.all("idle").length + 3);
    expect(recorder.all("claimed")).toHaveLength(1);
    goOn();
    await recorder.settled();
    await recorder.until("idle", recorder.all("idle").length + 2);
    expect(recorder.all("claimed")).toHaveLength(1);
  });
});
