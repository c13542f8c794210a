import { paths, records } from "@sluice/queue-core";
import { startFaultProxy, waitFor } from "@sluice/testkit";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { setImmediate as nextTick, setTimeout as pause } from "node:timers/promises";
import { CATALOGUE, done, EXIT, makeLog, type Duty } from "../src/index.ts";
import { downloading, type RunningService, World } from "./support/world.ts";

let world: World;
beforeEach(async () => {
  world = await World.make();
});
afterEach(async () => {
  await world.close();
});

/** A stage whose handlers wait to be let go, or for their signal. */
function patient() {
  let letGo = (): void => undefined;
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const duty = downloading(async (_job, ctx) => {
    const aborted = new Promise<void>((_resolve, reject) =>
      ctx.signal.addEventListener("abort", () => reject(new Error("aborted"))),
    );
    await Promise.race([gone, aborted]);
    return done();
  });
  return { duty, letGo };
}

const get = async ({ service }: RunningService, path: string, accept = "*/*") => {
  const response = await fetch(`${service.opsUrl ?? ""}${path}`, { headers: { accept } });
  return { status: response.status, body: await response.text() };
};

describe("a service", () => {
  test("registers its worker, shows what it has in hand, and is gone when it ends", async () => {
    const id = await world.addJob({ number: 1 });
    const { duty, letGo } = patient();
    const running = world.start("downloader", [duty], { WORKER_ID: "w-1" });
    await running.recorder.until("claimed");
    const node = records.worker.decode((await world.data(paths.worker("downloader", "w-1")))!);
    expect(node).toMatchObject({ ok: true, value: { pid: process.pid, concurrency: 4, draining: false } });
    expect(JSON.parse((await get(running, "/progress")).body)).toMatchObject({ jobs: [{ job: id, attempt: 1 }] });
    letGo();
    await running.recorder.settled();
    running.service.ring();
    expect(await running.code).toBe(EXIT.clean);
    expect(await world.children(paths.stageWorkers("downloader"))).toEqual([]);
  });

  test("ends with a word about its configuration when a live worker has its name; a dead one's is waited for", async () => {
    const timeout = { ZK_SESSION_TIMEOUT_MS: "4000" };
    const duty = downloading(() => Promise.resolve(done()));
    const first = world.start("downloader", [duty], { WORKER_ID: "twin", ...timeout });
    await first.recorder.until("session");
    const twin = world.start("downloader", [duty], { WORKER_ID: "twin", ...timeout });
    expect(await twin.code).toBe(EXIT.configuration);
    expect((await get(first, "/readyz")).status).toBe(200);
    const lines: string[] = [];
    const log = makeLog("downloader", "info", { write: (line) => void lines.push(line) });
    const heir = world.start("downloader", [duty], { WORKER_ID: "twin", ...timeout }, {}, { log });
    await waitFor(() => lines.some((line) => line.includes("cannot register yet")));
    first.service.ring();
    await heir.recorder.until("session");
    // Looking is enough to wait: ZooKeeper logs what it refuses.
    expect((await get(heir, "/metrics")).body).not.toMatch(/sluice_zk_operation_errors_total\{.*multi/);
  });

  test("exports every metric of the catalogue, and answers the probes", async () => {
    await world.addJob({ number: 1 });
    const running = world.start("downloader", [downloading(() => Promise.resolve(done()))]);
    await running.recorder.settled();
    const { body } = await get(running, "/metrics");
    for (const { name } of Object.values(CATALOGUE)) expect(body).toContain(`# TYPE ${name} `);
    expect(body).toContain('sluice_stage_jobs_total{stage="downloader",outcome="done"} 1');
    expect(body).toContain('sluice_lock_results_total{result="acquired"} 1');
    expect(body).toContain('sluice_zk_session_state{state="connected"} 1');
    expect(await get(running, "/readyz")).toEqual({ status: 200, body: "ok\n" });
    expect((await get(running, "/healthz?verbose")).body).toContain("[+]zookeeper ok: connected");
    expect((await get(running, "/livez", "application/json")).body).toContain('"ok":true');
    expect((await get(running, "/none")).status).toBe(404);
  });

  test("finishes what it has in hand after the first bell, and takes nothing new", async () => {
    const { duty, letGo } = patient();
    const [first] = await world.addJobs(1);
    const running = world.start("downloader", [duty]);
    await running.recorder.until("claimed");
    running.service.ring();
    expect((await get(running, "/readyz")).status).toBe(503);
    expect((await get(running, "/livez")).status).toBe(200);
    const late = await world.addJob({ number: 2 });
    letGo();
    expect(await running.code).toBe(EXIT.clean);
    expect(running.recorder.all("settled")).toMatchObject([{ job: first, outcome: "done" }]);
    expect(await world.status(late)).toMatchObject({ status: "Downloading" });
  });

  test.each([
    ["when the grace period is over", { SHUTDOWN_GRACE_MS: "50" }, 1],
    ["at once after the second bell", { SHUTDOWN_GRACE_MS: "600000" }, 2],
  ])("hands back uncounted what is in hand %s", async (_when, config, bells) => {
    const id = await world.addJob({ number: 1 });
    const running = world.start("downloader", [patient().duty], config);
    await running.recorder.until("claimed");
    for (let bell = 0; bell < bells; bell++) running.service.ring();
    expect(await running.code).toBe(EXIT.clean);
    expect(running.recorder.all("settled")).toMatchObject([{ job: id, outcome: "handback", to: "Downloading" }]);
    expect(await world.fleetJob(id)).toMatchObject({ attempts: 0 });
    expect(await world.data(paths.jobLock(id))).toBeNull();
  });

  test("hands back over the head of a handler that does not obey, and no longer listens to it", async () => {
    const id = await world.addJob({ number: 1 });
    let letGo = (): void => undefined;
    const deaf = downloading(() => new Promise((resolve) => (letGo = () => resolve(done()))));
    const running = world.start("downloader", [deaf], { SHUTDOWN_GRACE_MS: "10" });
    await running.recorder.until("claimed");
    running.service.ring();
    expect(await running.code).toBe(EXIT.clean);
    letGo();
    await nextTick();
    expect(running.recorder.all("settled")).toMatchObject([{ job: id, outcome: "handback" }]);
    expect(await world.status(id)).toMatchObject({ status: "Downloading" });
  });

  test("ends with an error when the tree becomes another one", async () => {
    const running = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      IDLE_POLL_INTERVAL_MS: "200",
    });
    await running.recorder.until("idle");
    const node = await world.session.get(paths.fleetId);
    const version = node.ok ? node.value.stat.version : NaN;
    await world.write([{ op: "set", path: paths.fleetId, data: Buffer.from("another"), version }]);
    expect(await running.code).toBe(EXIT.internal);
  });

  test("ends with an error when its port is taken", async () => {
    const first = world.start("downloader", []);
    await first.recorder.until("service");
    const port = new URL(first.service.opsUrl!).port;
    expect(await world.start("downloader", [], { METRICS_PORT: port }).code).toBe(EXIT.internal);
  });

  test("a stage that throws at a failpoint goes on with the job", async () => {
    await world.addJob({ number: 1 });
    const running = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      FAILPOINTS: "downloader.afterEffect=throw#1",
    });
    const settled = await running.recorder.settled(2);
    expect(settled.map(({ outcome }) => outcome)).toEqual(["retry", "done"]);
  });
});

describe("after a lost session", () => {
  test("a worker whose old node is still there takes its place and goes on claiming: it is no rival of itself", async () => {
    const proxy = await startFaultProxy(world.connect);
    const running = world.start("downloader", [downloading(() => Promise.resolve(done()))], {
      ZOOKEEPER_CONNECT: proxy.connect,
      ZK_SESSION_TIMEOUT_MS: "1000",
      WORKER_ID: "w-1",
    });
    await running.recorder.until("session");
    const path = paths.worker("downloader", "w-1");
    const data = (await world.data(path))!;
    await proxy.setMode("blackhole");
    await running.recorder.until("session", 1, ({ state }) => state === "ended");
    await waitFor(async () => (await world.data(path)) === null, { what: "the end of the old session" });
    // As a change of the leader does: the old node stays, longer than any patience.
    await world.write([{ op: "create", path, data, ephemeral: true }]);
    const id = await world.addJob({ number: 1 });
    await proxy.setMode("pass");
    expect(await running.recorder.settled()).toMatchObject([{ job: id, outcome: "done" }]);
    const node = await world.session.get(path);
    expect(node.ok && node.value.stat.ephemeralOwner !== world.session.id).toBe(true);
    await world.close();
    await proxy.close();
    world = await World.make();
  });

  test("a handler that blocked the event loop has had its attempt, and is quarantined", async () => {
    const id = await world.addJob({ number: 1 });
    const blocking = downloading(() => {
      const untilMs = performance.now() + 1_500;
      while (performance.now() < untilMs);
      return Promise.resolve(done());
    });
    const running = world.start("downloader", [blocking], { ZK_SESSION_TIMEOUT_MS: "1000", ATTEMPTS_MAX: "1" });
    const settled = await running.recorder.settled(2);
    expect(settled.map(({ outcome }) => outcome)).toEqual(["lost", "quarantine"]);
    expect(await world.status(id)).toMatchObject({ status: "Failed" });
    const { body } = await get(running, "/metrics");
    expect(body).toContain('sluice_event_loop_stalls_total{stage="downloader"} 1');
  });
});

describe("without ZooKeeper", () => {
  const duty: Duty = downloading(() => Promise.resolve(done()));

  test("a service waits alive and not ready, and works when it comes", async () => {
    const proxy = await startFaultProxy(world.connect);
    await proxy.setMode("refuse");
    const id = await world.addJob({ number: 1 });
    const running = world.start("downloader", [duty], {
      ZOOKEEPER_CONNECT: proxy.connect,
      ZK_SESSION_TIMEOUT_MS: "4000",
    });
    await waitFor(() => running.service.opsUrl);
    expect((await get(running, "/livez")).status).toBe(200);
    expect((await get(running, "/readyz")).body).toContain("[-]zookeeper failed: no session");
    await proxy.setMode("pass");
    expect(await running.recorder.settled()).toMatchObject([{ job: id, outcome: "done" }]);
    await world.close();
    await proxy.close();
    world = await World.make();
  });

  test("a service with something that stands in is ready as long as that can take more", async () => {
    const proxy = await startFaultProxy(world.connect);
    await proxy.setMode("refuse");
    let room = true;
    const standIn = () => ({ name: "journal", ok: room, detail: room ? "has room" : "full" });
    const config = { ZOOKEEPER_CONNECT: proxy.connect, ZK_SESSION_TIMEOUT_MS: "4000" };
    const running = world.start("downloader", [duty], config, { standIn });
    await waitFor(() => running.service.opsUrl);
    await waitFor(async () => (await get(running, "/readyz")).status === 200, { what: "ready without ZooKeeper" });
    room = false;
    const refused = await get(running, "/readyz");
    expect([refused.status, refused.body]).toEqual([503, expect.stringContaining("[-]journal failed: full")]);
    await world.close();
    await proxy.close();
    world = await World.make();
  });

  test("a service gives up with 69 where it is asked to", async () => {
    const proxy = await startFaultProxy(world.connect);
    await proxy.setMode("refuse");
    const { code } = world.start("downloader", [duty], {
      ZOOKEEPER_CONNECT: proxy.connect,
      ZK_SESSION_TIMEOUT_MS: "1000",
      ZK_GIVE_UP_MS: "1000",
    });
    expect(await code).toBe(EXIT.dependency);
    await proxy.close();
  });

  test("a lost session aborts its work, writes nothing more, and the work goes on by itself afterwards", async () => {
    const proxy = await startFaultProxy(world.connect);
    const id = await world.addJob({ number: 1 });
    const signals: AbortSignal[] = [];
    const attempts: number[] = [];
    const stage = downloading(async (job, ctx) => {
      attempts.push(job.attempt);
      signals.push(ctx.signal);
      if (signals.length === 1) await pause(600_000, undefined, { signal: ctx.signal });
      return done();
    });
    const running = world.start("downloader", [stage], {
      ZOOKEEPER_CONNECT: proxy.connect,
      ZK_SESSION_TIMEOUT_MS: "4000",
      ATTEMPTS_MAX: "1",
    });
    await running.recorder.until("claimed");
    await proxy.setMode("blackhole");
    await running.recorder.until("session", 1, ({ state }) => state === "ended");
    expect(signals[0]?.aborted).toBe(true);
    expect((await get(running, "/livez")).status).toBe(200);
    expect((await get(running, "/readyz")).status).toBe(503);
    await waitFor(async () => (await world.data(paths.jobLock(id))) === null, {
      what: "the server's end of the session",
    });
    expect(await world.fleetJob(id)).toMatchObject({ attempts: 1 });
    await proxy.setMode("pass");
    const settled = await running.recorder.settled(2);
    expect(settled.map(({ outcome }) => outcome)).toEqual(["lost", "done"]);
    expect(attempts).toEqual([1, 1]); // Its worker did not die: the first one does not count.
    const told = (await world.fleetJob(id)).events.map(([, , kind, , , detail]) => [kind, detail]);
    expect(told).toContainEqual(["handback", "its session was lost"]);
    await world.close();
    await proxy.close();
    world = await World.make();
  });
});
