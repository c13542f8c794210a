import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { calledBackOf, type JobId, paths, readJob } from "@sluice/queue-core";
import type { Egress } from "@sluice/safe-io";
import { baseConfig, readConfig, Service, silentLog } from "@sluice/stage-runtime";
import {
  aBatchOfJobs,
  advance,
  checkInvariants,
  describeViolation,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
  waitFor,
  numbered,
} from "@sluice/testkit";
import { systemClock } from "@sluice/zookeeper";
import type { ServerResponse } from "node:http";
import { notifierDuties } from "../src/duties.ts";
import { answers, loopbackEgress, profileWith, type Receiver, receiver } from "./support.ts";

describe("the notifier on a real tree", () => {
  let zk: TestZooKeeper;
  let intake: TestWorker;
  let egress: Egress;
  let server: Receiver;
  let service: Service | undefined;
  let ended: Promise<number>;

  beforeEach(async () => {
    zk = await testZooKeeper();
    intake = await testWorker(zk.connect, "batch-intake");
    egress = loopbackEgress();
  });
  afterEach(async () => {
    service?.ring();
    await ended;
    await Promise.all([intake.close(), egress.close(), server.close()]);
  });

  async function start(answer: (response: ServerResponse) => void, failpoints = ""): Promise<void> {
    server = await receiver(answer);
    const config = readConfig(baseConfig, {
      ZOOKEEPER_CONNECT: zk.connect,
      METRICS_PORT: "0",
      POLL_INTERVAL_MS: "50",
      IDLE_POLL_INTERVAL_MS: "200",
      FAILPOINTS: failpoints,
    });
    if (!config.ok) throw new Error(config.problems.join());
    const profiles = profileWith([`CallbackURL: http://${server.host}`]);
    const settings = { ATTEMPTS_MAX: 3, FAILED_CALLBACK_GIVE_UP_MS: 3_600_000, PERSISTENT_URL_BASE: undefined };
    service = new Service(
      { service: "notifier", config: config.config, duties: notifierDuties(settings, { profiles, egress }) },
      { clock: systemClock, random: Math.random, log: silentLog(), probe: () => undefined },
    );
    ended = service.run();
  }

  const untilState = (id: JobId, state: string) =>
    waitFor(
      async () => {
        const view = await readJob(intake.session, id);
        return view.kind === "found" && view.value.status.status === state && view.value;
      },
      { what: `${id} ${state}` },
    );
  const aJobToTell = async (): Promise<{ batch: string; job: JobId }> => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    await advance(zk.connect, jobs[0]!, "Notify");
    return { batch, job: jobs[0]! };
  };
  const keys = (): unknown[] => server.received.map(({ headers }) => numbered(headers["idempotency-key"]));
  const violations = (): readonly string[] =>
    checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map(describeViolation);

  test("calls back and completes the job, and its batch is due", async () => {
    const { batch, job } = await aJobToTell();
    await start(answers(200));
    await untilState(job, "Completed");
    expect(keys()).toEqual([`${job}.COMPLETED.0`]);
    await waitFor(async () => {
      const due = await intake.session.exists(`${paths.dueBatches}/${batch}`);
      return due.ok && due.value !== null;
    });
    expect(violations()).toEqual([]);
  });

  test("fails a job whose receiver refuses it, and tells that too, once", async () => {
    const { job } = await aJobToTell();
    await start(answers(404));
    const { status } = await untilState(job, "Failed");
    expect(status.message).toMatch(/^CALLBACK_FAILED: .*404/);
    await waitFor(() => server.received.length === 2);
    await waitFor(async () => {
      const left = await intake.session.children(paths.callbacks);
      return left.ok && left.value.names.length === 0;
    });
    expect(keys()).toEqual([`${job}.COMPLETED.0`, `${job}.FAILED.0`]);
    const { history } = await untilState(job, "Failed");
    expect(calledBackOf(history!)).toMatchObject({ delivered: false, detail: expect.stringContaining("404") });
    expect(violations()).toEqual([]);
  });

  test("that stumbles after the callback repeats it under the same key", async () => {
    const { job } = await aJobToTell();
    await start(answers(200), "notifier.afterEffect=throw#1");
    await untilState(job, "Completed");
    expect(keys()).toEqual([`${job}.COMPLETED.0`, `${job}.COMPLETED.0`]);
  });
});
