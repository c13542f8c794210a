/**
 * Goal: an outage of the inventory database, however long, fails no job and needs nobody's help.
 * Method: a real MariaDB is killed under real services that may try only twice; jobs are put off many times more, say why,
 * and go through when the server is started again.
 */
import { afterAll, beforeAll, expect, describe, test } from "@jest/globals";
import { type RunningMariaDb, skipUnless, startMariaDb } from "@sluice/local-parts";
import { type BatchId, listBucket, readJobs } from "@sluice/queue-core";
import { checkInvariants, describeViolation, type TestZooKeeper, testZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Content, serveContent } from "../support/content.ts";
import { type Fleet, makeFleet, type Running, type ServiceName } from "../support/fleet.ts";
import { jobsSettled, metric, OBSERVER_SESSION_MS, untilReported } from "../support/watch.ts";

const started = await startMariaDb();
const database = started as RunningMariaDb;
const ATTEMPTS_MAX = 2;
/** Far more often than a job may be tried. */
const PUT_OFF = ATTEMPTS_MAX * 4;

skipUnless(describe, started)("while the inventory database is away", () => {
  let zk: TestZooKeeper;
  let fleet: Fleet;
  let content: Content;
  let session: Session;
  let running: readonly Running[];

  beforeAll(async () => {
    [zk, content] = await Promise.all([testZooKeeper(), serveContent()]);
    const env = {
      INVENTORY_URL: database.url,
      INVENTORY_AWAY_WAIT_MS: "50",
      ATTEMPTS_MAX: String(ATTEMPTS_MAX),
      POLL_INTERVAL_MS: "100",
    };
    fleet = await makeFleet({ zookeeper: zk.connect, env });
    running = await fleet.startAll();
    session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
  });
  afterAll(async () => {
    await fleet.stop();
    await session.close();
    await Promise.all([content.close(), database.stop()]);
  });

  const the = (service: ServiceName): Running => running.find((each) => each.service === service)!;

  /** What the jobs that are under way say they wait for. */
  async function reasons(id: BatchId): Promise<readonly string[]> {
    const jobs = (await listBucket(session, id, "batch-processing")) ?? [];
    const views = (await readJobs(session, jobs)) ?? [];
    return views.flatMap((view) => (view.kind === "found" ? [view.value.history?.why ?? ""] : []));
  }

  const stages: readonly [what: string, service: ServiceName, name: string, body: () => Record<string, unknown>][] = [
    [
      "a job with local ids waits in Processing",
      "processor",
      "sluice_processor_inventory_away_total",
      () => ({ payload_url: content.batchManifest(1), type: "single-file-batch-manifest" }),
    ],
    [
      "a job without waits in Recording",
      "recorder",
      "sluice_recorder_inventory_away_total",
      () => ({ payload_url: content.file(1), type: "file", payload_name: "lone.txt" }),
    ],
  ];

  test.each(stages)(
    "%s, is counted and says why, and goes through when it is back",
    async (_what, service, name, body) => {
      await database.kill("SIGKILL");
      const id = await fleet.submit(the("batch-intake"), body());
      await waitFor(async () => (await metric(the(service), name)) >= PUT_OFF, { what: name });
      await waitFor(async () => (await reasons(id)).some((why) => /the inventory .*ECONNREFUSED/.test(why)), {
        what: "a reason that can be read",
      });
      await database.restart();
      expect(await untilReported(session, id)).toBe("Completed");
      expect(await metric(the(service), "sluice_stage_attempts_total")).toBe(0);
      expect(await jobsSettled(the(service), "fail")).toBe(0);
    },
  );

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: zk.root });
    expect(checked.violations.map(describeViolation)).toEqual([]);
  });
});
