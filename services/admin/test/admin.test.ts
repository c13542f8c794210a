import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { actOnJob, paths, setHold } from "@sluice/queue-core";
import { baseConfig, type OpenQueue, readConfig, Service, silentLog } from "@sluice/stage-runtime";
import {
  aBatch,
  aBatchOfJobs,
  advance,
  claimJob,
  ownZooKeeper,
  type OwnZooKeeper,
  type TestWorker,
  testWorker,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { type Session, systemClock } from "@sluice/zookeeper";
import { adminApp } from "../src/app.ts";
import { httpServer } from "../src/http-server.ts";
import { readSurvey } from "../src/read-survey.ts";
import { serveFleet } from "../src/serve-fleet.ts";
import { makeSurveyor } from "../src/surveyor.ts";
import type { FleetSurvey } from "../src/survey.ts";

const OPERATOR = { name: "olga", reason: "because" };

describe("a look at the fleet", () => {
  let connect: string;
  let intake: TestWorker;
  let operator: TestWorker;
  beforeEach(async () => {
    ({ connect } = await testZooKeeper());
    intake = await testWorker(connect, "batch-intake");
    operator = await testWorker(connect, "operator", { register: false });
  });
  afterEach(async () => {
    await Promise.all([intake.close(), operator.close()]);
  });

  const survey = async (session: Session = operator.session): Promise<FleetSurvey> => {
    const seen = await readSurvey(session, operator.fleetId, 0);
    if (seen === null) throw new Error("no answer");
    return seen;
  };
  const stageOf = ({ stages }: FleetSurvey, stage: string) => stages.find((each) => each.stage === stage)!;

  test("counts jobs, batches and workers", async () => {
    const { jobs } = await aBatchOfJobs(intake, 3);
    await aBatch(intake);
    await advance(connect, jobs[0]!, "Provisioning");
    const seen = await survey();
    expect(seen.jobs).toMatchObject({ Pending: 2, Estimating: 0, Provisioning: 1, Failed: 0 });
    expect(seen.batches).toMatchObject({ Pending: 1, Processing: 1 });
    expect(stageOf(seen, "batch-intake")).toMatchObject({ waiting: 3, ready: 3, workers: 1, exact: true });
    expect(stageOf(seen, "provisioner")).toMatchObject({ waiting: 1, ready: 1, workers: 0 });
  });

  test("calls ready only what a worker could take now", async () => {
    const { jobs } = await aBatchOfJobs(intake, 3);
    const inHand = await claimJob(intake, "Pending", jobs[0]!);
    const putOff = await claimJob(intake, "Pending", jobs[1]!);
    await intake.jobs.giveBack(putOff.lease, "snooze", { delayMs: 3_600_000, why: "later", countsAttempt: false });
    expect(stageOf(await survey(), "batch-intake")).toMatchObject({ waiting: 3, ready: 1 });
    await intake.jobs.giveBack(inHand.lease, "handback", { delayMs: 0, why: "", countsAttempt: false });
    expect(stageOf(await survey(), "batch-intake")).toMatchObject({ waiting: 3, ready: 2 });
  });

  test("measures the age of the oldest ready job by the server's clock", async () => {
    const { jobs } = await aBatchOfJobs(intake, 2);
    const first = await operator.session.get(paths.fleetJob(jobs[0]!));
    const madeAtMs = first.ok ? first.value.stat.mtime : Number.NaN;
    const later: Session = Object.assign(Object.create(operator.session) as Session, {
      serverNowMs: () => madeAtMs + 90_000,
      children: operator.session.children.bind(operator.session),
      readMany: operator.session.readMany.bind(operator.session),
    });
    expect(stageOf(await survey(later), "batch-intake").oldestReadyAgeMs).toBe(90_000);
    expect(stageOf(await survey(later), "estimator").oldestReadyAgeMs).toBe(0);
  });

  test("finds nothing ready in a queue that is paused, nor in a stage that is", async () => {
    await aBatchOfJobs(intake, 2);
    expect(await setHold(operator.ctx, OPERATOR, { kind: "stage", stage: "batch-intake" })).toMatchObject({
      kind: "applied",
    });
    const seen = await survey();
    expect(stageOf(seen, "batch-intake")).toMatchObject({ waiting: 2, ready: 0, oldestReadyAgeMs: 0, paused: true });
    expect(stageOf(seen, "estimator")).toMatchObject({ paused: false });
    await setHold(operator.ctx, OPERATOR, { kind: "queue" });
    expect((await survey()).stages.every(({ paused }) => paused)).toBe(true);
  });

  test("counts due batches and callbacks as work of reporter and notifier", async () => {
    const { batch, jobs } = await aBatchOfJobs(intake, 1);
    expect(await actOnJob(operator.ctx, OPERATOR, "fail", jobs[0]!)).toMatchObject({ kind: "applied" });
    await operator.session.multi([{ op: "create", path: paths.dueBatch(batch), data: Buffer.alloc(0) }]);
    const seen = await survey();
    expect(stageOf(seen, "reporter")).toMatchObject({ waiting: 1, ready: 1, state: null });
    expect(stageOf(seen, "notifier")).toMatchObject({ waiting: 1, ready: 1 });
  });

  test("is taken once however many ask, and costs the same number of round trips at any depth", async () => {
    await aBatchOfJobs(intake, 450);
    let reads = 0;
    let mostRead = 0;
    const counted: Session = Object.assign(Object.create(operator.session) as Session, {
      serverNowMs: () => operator.session.serverNowMs(),
      children: operator.session.children.bind(operator.session),
      readMany: (list: Parameters<Session["readMany"]>[0]) => {
        reads += 1;
        mostRead = Math.max(mostRead, list.length);
        return operator.session.readMany(list);
      },
    });
    const open: OpenQueue = { context: { ...operator.ctx, session: counted }, fleetId: operator.fleetId };
    const surveyor = makeSurveyor(() => open, systemClock, 60_000);
    const seen = await Promise.all(Array.from({ length: 20 }, () => surveyor.survey()));
    expect(new Set(seen).size).toBe(1);
    expect(stageOf(seen[0]!, "batch-intake")).toMatchObject({ waiting: 450, ready: 450, exact: false });
    expect(reads).toBeLessThanOrEqual(4);
    expect(mostRead).toBeLessThanOrEqual(3 * 201);
  });
});

describe("the admin service", () => {
  let service: Service | undefined;
  let ended: Promise<number>;
  let url: string;
  let zk: OwnZooKeeper | undefined;

  afterEach(async () => {
    service?.ring();
    await ended;
    await zk?.stop();
    zk = undefined;
  });

  async function startAdmin(connect: string): Promise<Service> {
    const env = { ZOOKEEPER_CONNECT: connect, METRICS_PORT: "0", ZK_SESSION_TIMEOUT_MS: "2000" };
    const config = readConfig(baseConfig, env);
    if (!config.ok) throw new Error(config.problems.join());
    const urls: string[] = [];
    const log = Object.assign(silentLog(), { info: (fields: { url: string }) => urls.push(fields.url) });
    const settings = { HOST: "127.0.0.1", PORT: 0, SURVEY_MAX_AGE_MS: 0, SHUTDOWN_GRACE_MS: 1_000 };
    service = new Service(
      {
        service: "admin",
        config: config.config,
        duties: [],
        extraServers: (parts) => [serveFleet(settings, { ...parts, log })],
      },
      { clock: systemClock, random: Math.random, log: silentLog(), probe: () => undefined },
    );
    ended = service.run();
    url = await waitFor(() => urls[0]);
    return service;
  }

  const untilUp = (path: string) =>
    waitFor(async () => {
      const response = await fetch(`${url}${path}`);
      return response.status === 200 && response;
    });

  test("answers with counts, ready work, ages, workers and holds", async () => {
    const { connect } = await testZooKeeper();
    await startAdmin(connect);
    const intake = await testWorker(connect, "batch-intake");
    await aBatchOfJobs(intake, 2);
    await setHold(intake.ctx, OPERATOR, { kind: "collection", profile: "x_content" });
    const body = (await (await untilUp("/v1/queue")).json()) as Record<string, unknown>;
    expect(body).toMatchObject({
      fleet: intake.fleetId,
      jobs: { Pending: 2, Completed: 0 },
      batches: { Processing: 1 },
      holds: { queue_paused: false, stages_paused: [], collections_held: ["x_content"] },
    });
    expect((body["stages"] as unknown[])[0]).toMatchObject({
      stage: "batch-intake",
      state: "Pending",
      ready: 2,
      ready_is_exact: true,
      workers: 1,
    });
    await intake.close();
  });

  test("shows a page that works without scripts", async () => {
    await startAdmin((await testZooKeeper()).connect);
    const response = await untilUp("/");
    expect(response.headers.get("content-type")).toContain("text/html");
    expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await response.text()).toContain("<caption>Stages</caption>");
  });

  test("exports the fleet's gauges at its metrics port, and none while ZooKeeper is away", async () => {
    zk = await ownZooKeeper();
    const admin = await startAdmin(zk.connect);
    const intake = await testWorker(zk.connect, "batch-intake");
    await aBatchOfJobs(intake, 2);
    await untilUp("/v1/queue");
    const scrape = async (): Promise<string> => (await fetch(`${admin.opsUrl!}/metrics`)).text();
    const there = await scrape();
    expect(there).toContain('sluice_queue_jobs{queue="ingest",state="Pending"} 2');
    expect(there).toContain('sluice_queue_ready_jobs{queue="ingest",stage="batch-intake"} 2');
    expect(there).toMatch(/sluice_queue_oldest_ready_age_seconds\{queue="ingest",stage="batch-intake"\} [\d.]+/);
    expect(there).toContain('sluice_batches{state="Processing"} 1');
    expect(there).toContain('sluice_queue_paused{scope="ingest"} 0');
    expect(there).toContain('sluice_stage_workers{stage="batch-intake"} 1');
    await intake.close();

    await zk.kill("SIGKILL");
    const gone = await waitFor(async () => {
      const text = await scrape();
      return !text.includes("sluice_queue_jobs{") && text;
    });
    expect(gone).toContain("sluice_build_info");
    expect((await fetch(`${url}/v1/queue`)).status).toBe(503);
    await zk.restart();
    await untilUp("/v1/queue");
  });

  test("answers what it does not know with a problem document", async () => {
    await startAdmin((await testZooKeeper()).connect);
    const response = await fetch(`${url}/v1/nothing`);
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
  });
});

test("a port that is taken is a clear failure at the start", async () => {
  const surveyor = { survey: () => Promise.resolve(null) };
  const urls: string[] = [];
  const log = Object.assign(silentLog(), { info: (fields: { url: string }) => urls.push(fields.url) });
  const options = { host: "127.0.0.1", graceMs: 1, log };
  const first = httpServer(
    adminApp(surveyor, () => undefined),
    { ...options, port: 0 },
  );
  await first.start();
  const second = httpServer(
    adminApp(surveyor, () => undefined),
    { ...options, port: Number(new URL(urls[0]!).port) },
  );
  await expect(second.start()).rejects.toThrow("EADDRINUSE");
  await first.stop();
});
