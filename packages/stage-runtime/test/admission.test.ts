import { jobId, paths } from "@sluice/queue-core";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { waitFor } from "@sluice/testkit";
import { done } from "../src/index.ts";
import { provisioning } from "./support/volume.ts";
import { World } from "./support/world.ts";

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
    await world.addJob({ number: 2, state: "Failed", spaceNeeded: 20, lastSuccessful: "Downloading" });
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

  test("does not count a failed job that was never admitted, however large it is", async () => {
    await world.addJob({ number: 1, state: "Failed", spaceNeeded: 1_000, lastSuccessful: "Estimating" });
    await world.addJob({ number: 2, state: "Failed", spaceNeeded: 1_000 });
    const next = await world.addJob({ number: 3, state: "Provisioning", spaceNeeded: 100 });
    const { recorder } = world.start("provisioner", [provisioning()]);
    expect(await recorder.settled()).toMatchObject([{ job: next, to: "Downloading" }]);
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

  test("judges a job in hand again when another provisioner took room since, though a later round has looked", async () => {
    const first = await world.addJob({ number: 1, state: "Provisioning", spaceNeeded: 60 });
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const stage = provisioning(async (job) => {
      if (job.id === first) await gate;
      return done();
    });
    const { recorder } = world.start("provisioner", [stage], { STAGE_CONCURRENCY: "2" });
    await recorder.until("claimed");
    await anotherAdmits(500, 40);
    await world.addJob({ number: 2, state: "Provisioning", spaceNeeded: 0 });
    await recorder.settled();
    goOn();
    expect(await recorder.until("settled", 1, ({ job }) => job === first)).toMatchObject([{ outcome: "done" }]);
    expect(await inDownloading()).toBe(3);
  });

  test("gives a job in hand back when there is no room for it any more", async () => {
    const first = await world.addJob({ number: 1, state: "Provisioning", spaceNeeded: 60 });
    let goOn = (): void => undefined;
    const gate = new Promise<void>((resolve) => (goOn = resolve));
    const stage = provisioning(async (job) => {
      if (job.id === first) await gate;
      return done();
    });
    const { recorder } = world.start("provisioner", [stage], { STAGE_CONCURRENCY: "2" });
    await recorder.until("claimed");
    await anotherAdmits(500, 60);
    const later = await world.addJob({ number: 2, state: "Provisioning", spaceNeeded: 0 });
    const rounds = recorder.all("idle").length;
    await Promise.race([recorder.settled(), recorder.until("idle", rounds + 3)]);
    goOn();
    expect(await recorder.until("settled", 1, ({ job }) => job === first)).toMatchObject([{ outcome: "snooze" }]);
    expect(await world.status(later)).toBeDefined();
    expect(await world.status(first)).toMatchObject({ status: "Provisioning" });
  });

  test("waits, and lets the job go, when the volume cannot be surveyed at its commit", async () => {
    const id = await world.addJob({ number: 1, state: "Provisioning", spaceNeeded: 10 });
    let tries = 0;
    let isBroken = false;
    const stage = provisioning(
      async () => {
        if (tries++ === 0) {
          await anotherAdmits(500, 10);
          isBroken = true;
        }
        return done();
      },
      () =>
        isBroken
          ? Promise.reject(new Error("statfs: EIO"))
          : Promise.resolve({ totalBytes: 100, freeBytes: 100, uploadedBytes: 0 }),
    );
    const { recorder } = world.start("provisioner", [stage]);
    expect((await recorder.settled()).map(({ outcome }) => outcome)).toEqual(["snooze"]);
    isBroken = false;
    expect((await recorder.settled(2)).map(({ outcome }) => outcome)).toEqual(["snooze", "done"]);
    expect(await world.data(paths.jobLock(id))).toBeNull();
  });
});

/** Another provisioner lets a job on: the counter moves, and the job is in the sum. */
async function anotherAdmits(number: number, spaceNeeded: number): Promise<void> {
  await world.addJob({ number, state: "Downloading", spaceNeeded });
  const space = await world.session.get(paths.space);
  const version = space.ok ? space.value.stat.version : NaN;
  await world.write([{ op: "set", path: paths.space, data: Buffer.from("7"), version }]);
}
