import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  actOnJob,
  calledBackOf,
  changePriority,
  type JobChanges,
  type JobId,
  paths,
  readJob,
  records,
  resumeJob,
} from "@sluice/queue-core";
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

interface JobState {
  readonly "job:jobState": Readonly<Record<string, string>>;
}

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
    run(failpoints);
  }

  function run(failpoints = "", persistentUrlBase?: string): void {
    const config = readConfig(baseConfig, {
      ZOOKEEPER_CONNECT: zk.connect,
      METRICS_PORT: "0",
      POLL_INTERVAL_MS: "50",
      IDLE_POLL_INTERVAL_MS: "200",
      FAILPOINTS: failpoints,
    });
    if (!config.ok) throw new Error(config.problems.join());
    const profiles = profileWith([`CallbackURL: http://${server.host}`]);
    const settings = { ATTEMPTS_MAX: 3, FAILED_CALLBACK_GIVE_UP_MS: 3_600_000, PERSISTENT_URL_BASE: persistentUrlBase };
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
  const aJobToTell = async (changes: JobChanges = {}): Promise<{ batch: string; job: JobId }> => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    await advance(zk.connect, jobs[0]!, "Notify", changes);
    return { batch, job: jobs[0]! };
  };
  const keys = (): Promise<string[]> =>
    Promise.all(server.received.map(({ headers }) => numbered(intake.session, headers["idempotency-key"])));
  const violations = (): readonly string[] =>
    checkInvariants({ logDir: zk.logDir, root: zk.root }).violations.map(describeViolation);

  test("calls back and completes the job, and its batch is due", async () => {
    const { batch, job } = await aJobToTell();
    await start(answers(200));
    await untilState(job, "Completed");
    expect(await keys()).toEqual([`${job}.COMPLETED.0`]);
    await waitFor(async () => {
      const due = await intake.session.exists(`${paths.dueBatches}/${batch}`);
      return due.ok && due.value !== null;
    });
    expect(violations()).toEqual([]);
  });

  test("fails a job whose receiver refuses it, and never says FAILED of the stored object", async () => {
    const inventory = { manifest_url: "http://127.0.0.1/o/v1/inventory.json", mode: "add" };
    const { job } = await aJobToTell({ inventory });
    await start(answers(404));
    const { status } = await untilState(job, "Failed");
    expect(status.message).toMatch(/^CALLBACK_FAILED: .*404/);
    await waitFor(async () => {
      const left = await intake.session.children(paths.callbacks);
      return left.ok && left.value.names.length === 0;
    });
    expect(await keys()).toEqual([`${job}.COMPLETED.0`]);
    const { history } = await untilState(job, "Failed");
    expect(calledBackOf(history!)).toMatchObject({
      delivered: false,
      detail: expect.stringContaining("the object is stored"),
    });
    expect(violations()).toEqual([]);
  });

  test("that stumbles after the callback repeats it under the same key", async () => {
    const { job } = await aJobToTell();
    await start(answers(200), "notifier.afterEffect=throw#1");
    await untilState(job, "Completed");
    expect(await keys()).toEqual([`${job}.COMPLETED.0`, `${job}.COMPLETED.0`]);
  });

  /** Everything that is read for a callback, changed between two attempts: by operators, by settings, by the job going on. */
  async function changeAll(job: JobId): Promise<void> {
    service?.ring();
    await ended;
    const { session } = intake;
    expect(await changePriority(intake.ctx, { name: "anna", reason: "sooner" }, job, 3)).toEqual({ kind: "applied" });
    const named = records.identifiers.encode({ primary_id: "ark:/99999/fk4later", local_id: ["later"] });
    expect(await session.multi([{ op: "create", path: paths.jobIdentifiers(job), data: named }])).toMatchObject({
      ok: true,
    });
    run("", "https://elsewhere.example/");
  }

  test.each([
    ["COMPLETED", () => Promise.resolve()],
    ["FAILED", (job: JobId) => fails(job)],
  ] as const)(
    "says the same bytes under one key, whatever changes between two attempts: %s",
    async (outcome, begin) => {
      const { job } = await aJobToTell();
      await begin(job);
      await start((response) => answers(server.received.length < 2 ? 503 : 200)(response));
      await waitFor(() => server.received.length === 1);
      await changeAll(job);
      if (outcome === "FAILED") {
        expect(await resumeJob(intake.ctx, { name: "anna", reason: "again" }, job, "Pending")).toEqual({
          kind: "applied",
        });
      }
      await waitFor(() => server.received.length === 2);
      expect(await keys()).toEqual([`${job}.${outcome}.0`, `${job}.${outcome}.0`]);
      const [first, second] = server.received.map(({ body }) => body);
      expect(second).toBe(first);
      await waitFor(async () => (await leftOf(paths.callbacks)) + (await leftOf(paths.callbackBodies)) === 0);
    },
  );

  const fails = async (job: JobId): Promise<void> => {
    expect(await actOnJob(intake.ctx, { name: "anna", reason: "no" }, "fail", job)).toEqual({ kind: "applied" });
  };
  const leftOf = async (directory: string): Promise<number> => {
    const left = await intake.session.children(directory);
    return left.ok ? left.value.names.length : NaN;
  };

  test("forgets the bytes of a callback that an operator's action overtakes, and says new ones under the next key", async () => {
    const { job } = await aJobToTell();
    await start((response) => answers(server.received.length < 2 ? 503 : 200)(response));
    await waitFor(() => server.received.length === 1);
    await fails(job);
    expect(await leftOf(paths.callbackBodies)).toBe(0);
    expect(await changePriority(intake.ctx, { name: "anna", reason: "sooner" }, job, 3)).toEqual({ kind: "applied" });
    expect(await resumeJob(intake.ctx, { name: "anna", reason: "again" }, job)).toEqual({ kind: "applied" });
    await untilState(job, "Completed");
    const told = server.received.filter(({ headers }) => String(headers["idempotency-key"]).endsWith("COMPLETED.1"));
    expect(told.map(({ body }) => (JSON.parse(body) as JobState)["job:jobState"]["job:queuePriority"])).toEqual(["03"]);
  });
});
