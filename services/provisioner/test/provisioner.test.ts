import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { type JobId, paths, readJobs } from "@sluice/queue-core";
import { readConfig, Service, silentLog, type Survey } from "@sluice/stage-runtime";
import {
  aBatchOfJobs,
  checkInvariants,
  claimJob,
  describeViolation,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { provisionerConfig } from "../src/config.ts";
import { sharedVolumeOnly } from "../src/dedicated-volumes.ts";
import { provisioningStage } from "../src/provision.ts";

describe("the provisioner on a real tree", () => {
  let zk: TestZooKeeper;
  let intake: TestWorker;
  let estimator: TestWorker;
  let running: { readonly service: Service; readonly ended: Promise<number> }[];
  let volume: Survey;

  beforeEach(async () => {
    zk = await testZooKeeper();
    intake = await testWorker(zk.connect, "batch-intake");
    estimator = await testWorker(zk.connect, "estimator");
    running = [];
    volume = { totalBytes: 100, freeBytes: 100, uploadedBytes: 0 };
  });
  afterEach(async () => {
    for (const { service } of running) service.ring();
    await Promise.all(running.map(({ ended }) => ended));
    await Promise.all([intake.close(), estimator.close()]);
  });

  /** Jobs that need so much, waiting for room. */
  async function waitingJobs(needs: readonly number[]): Promise<readonly JobId[]> {
    const { jobs } = await aBatchOfJobs(intake, needs.length);
    for (const [index, id] of jobs.entries()) {
      await intake.jobs.commit(await claimJob(intake, "Pending", id), { kind: "done", changes: {} });
      const changes = { spaceNeeded: needs[index] ?? 0 };
      await estimator.jobs.commit(await claimJob(estimator, "Estimating", id), { kind: "done", changes });
    }
    return jobs;
  }

  function startProvisioner(): void {
    const read = readConfig(provisionerConfig, {
      ZOOKEEPER_CONNECT: zk.connect,
      METRICS_PORT: "0",
      POLL_INTERVAL_MS: "50",
      IDLE_POLL_INTERVAL_MS: "100",
      STAGE_CONCURRENCY: "3",
      WORKER_ID: `provisioner-${randomBytes(4).toString("hex")}`,
    });
    if (!read.ok) throw new Error(read.problems.join());
    const stage = provisioningStage({
      survey: () => Promise.resolve(volume),
      limits: { known: 0.8, unknown: 0.7 },
      dedicated: sharedVolumeOnly,
      onRound: () => undefined,
    });
    const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() };
    const service = new Service(
      { service: "provisioner", config: read.config, duties: [stage] },
      { clock, random: Math.random, log: silentLog(), probe: () => undefined },
    );
    running.push({ service, ended: service.run() });
  }

  const statesOf = async (jobs: readonly JobId[]) => {
    const views = await readJobs(intake.session, jobs);
    return (views ?? []).map((view) =>
      view.kind === "found" ? { state: view.value.status.status, why: view.value.history?.why } : null,
    );
  };
  const admittedOf = async (jobs: readonly JobId[]): Promise<readonly JobId[]> => {
    const states = await statesOf(jobs);
    return jobs.filter((_, index) => states[index]?.state === "Downloading");
  };
  const violations = (): readonly string[] =>
    checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map(describeViolation);

  test("admits what fits, tells the others why they wait, and admits them when there is room", async () => {
    const jobs = await waitingJobs([50, 60, 20, 0]);
    startProvisioner();
    await waitFor(async () => (await admittedOf(jobs)).length === 2, { what: "two jobs admitted" });
    expect(await admittedOf(jobs)).toEqual([jobs[0], jobs[2]]);
    const [, large, , unknown] = await waitFor(async () => {
      const states = await statesOf(jobs);
      return states[1]?.why !== undefined && states[3]?.why !== undefined && states;
    });
    expect(large).toEqual({ state: "Provisioning", why: "needs 60 B, 30 B left below 80 % of the volume" });
    expect(unknown).toEqual({
      state: "Provisioning",
      why: "size unknown: admitted when less than 70 % of the volume is used or promised; now 70 %",
    });
    volume = { totalBytes: 1_000, freeBytes: 900, uploadedBytes: 0 };
    await waitFor(async () => (await admittedOf(jobs)).length === 4, { what: "all jobs admitted" });
    expect(violations()).toEqual([]);
  });

  test("two of them never promise more than the volume has", async () => {
    const jobs = await waitingJobs(Array.from({ length: 14 }, () => 10));
    startProvisioner();
    startProvisioner();
    // Eight fit. All others have been judged, and told, when each of them has its reason.
    const states = await waitFor(
      async () => {
        const now = await statesOf(jobs);
        const waiting = now.filter((job) => job?.state === "Provisioning");
        return waiting.length <= 6 && waiting.every((job) => job?.why !== undefined) && now;
      },
      { what: "every job admitted or told why not" },
    );
    expect(states.filter((job) => job?.state === "Downloading")).toHaveLength(8);
    expect(violations()).toEqual([]);
  });

  test("looks at the tree only, and claims nothing, while nothing fits", async () => {
    const jobs = await waitingJobs([90, 95]);
    startProvisioner();
    await waitFor(async () => (await statesOf(jobs)).every((job) => job?.why !== undefined), { what: "both told" });
    for (const id of jobs) {
      const record = await intake.session.get(paths.jobStatus(id));
      // Creation, two claims and two moves: nobody has claimed it since.
      expect(record.ok && record.value.stat.version).toBe(4);
    }
  });
});
