import { afterEach, describe, expect, test } from "@jest/globals";
import { silentLog } from "@sluice/stage-runtime";
import { aBatchOfJobs, ownZooKeeper, type OwnZooKeeper, testWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { ADMIN } from "@sluice/wire";
import { createServer } from "node:http";
import { httpServer } from "../src/http-server.ts";
import { startAdmin, type TestAdmin, valueOf } from "./support.ts";

let admin: TestAdmin;
let zk: OwnZooKeeper | undefined;
afterEach(async () => {
  await admin.stop();
  await zk?.stop();
  zk = undefined;
});

describe("the service", () => {
  test("exports the fleet's gauges at its metrics port, and none while ZooKeeper is away", async () => {
    zk = await ownZooKeeper();
    // A short session: an admin says that ZooKeeper is away only once its session is in doubt.
    admin = await startAdmin(zk.connect, { env: { ZK_SESSION_TIMEOUT_MS: "4000" } });
    const intake = await testWorker(zk.connect, "batch-intake");
    await aBatchOfJobs(intake, 2);
    const viewer = admin.as("viewer");
    expect(valueOf(await viewer.call(ADMIN.overview, {})).jobs).toMatchObject({ Pending: 2 });
    const scrape = async (): Promise<string> => (await fetch(`${admin.opsUrl}/metrics`)).text();
    const there = await scrape();
    expect(there).toContain('sluice_queue_jobs{queue="ingest",state="Pending"} 2');
    expect(there).toContain('sluice_queue_ready_jobs{queue="ingest",stage="batch-intake"} 2');
    expect(there).toMatch(/sluice_queue_oldest_ready_age_seconds\{queue="ingest",stage="batch-intake"\} [\d.]+/);
    expect(there).toContain('sluice_batches{state="Processing"} 1');
    expect(there).toMatch(/sluice_batches_oldest_age_seconds\{state="Processing"\} [\d.]+/);
    expect(there).toContain('sluice_queue_paused{scope="ingest"} 0');
    expect(there).toContain('sluice_stage_workers{stage="batch-intake"} 1');
    expect(there).toContain('sluice_admin_requests_total{operation="overview",status="200"} 1');
    await intake.close();

    await zk.kill("SIGKILL");
    const gone = await waitFor(async () => {
      const text = await scrape();
      return !text.includes("sluice_queue_jobs{") && text;
    });
    expect(gone).toContain("sluice_build_info");
    const silent = await waitFor(async () => {
      const answer = await viewer.call(ADMIN.overview, {});
      return !answer.ok && answer;
    });
    expect(silent).toMatchObject({ kind: "refused", refusal: { status: 503, code: "UNAVAILABLE" } });
    await zk.restart();
    await waitFor(async () => (await viewer.call(ADMIN.overview, {})).ok);
  });

  test("answers what it does not know with a problem document", async () => {
    admin = await startAdmin((await testZooKeeper()).connect);
    const response = await fetch(`${admin.url}/v1/nothing`, {
      headers: { authorization: `Bearer ${admin.tokens.viewer}` },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get("content-type")).toContain("application/problem+json");
  });

  test("says so where the console has not been built, and its API works", async () => {
    admin = await startAdmin((await testZooKeeper()).connect, { outside: { consoleDir: "/nowhere" } });
    const response = await fetch(admin.url);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining("npm run build") });
    expect((await admin.as("viewer").call(ADMIN.me, {})).ok).toBe(true);
  });

  test("a port that is taken is a clear failure at the start", async () => {
    admin = await startAdmin((await testZooKeeper()).connect);
    const taken = Number(new URL(admin.url).port);
    const app = createServer().listeners("request")[0] as () => void;
    const second = httpServer(app, { host: "127.0.0.1", graceMs: 1, log: silentLog(), port: taken });
    await expect(second.start()).rejects.toThrow("EADDRINUSE");
  });
});
