/** What the fleet's own look at its tree finds reaches its operators: by real processes, to a real mail server. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { freePort } from "@sluice/local-parts";
import { type Delivered, mailServer, type MailServer, testZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Fleet, makeFleet, untilReady } from "../support/fleet.ts";

/** An entry of a job that there is not. */
const ORPHAN = "/jobs/states/pending/50-jid0000009999";

let fleet: Fleet;
let server: MailServer;
let hand: Session;
const delivered: Delivered[] = [];

beforeAll(async () => {
  const { connect } = await testZooKeeper();
  server = await mailServer((mail) => delivered.push(mail));
  const [adminPort, jobApiPort] = [await freePort(), await freePort()];
  fleet = await makeFleet({
    zookeeper: connect,
    env: { AUTH: "off", JOB_API_URL: `http://127.0.0.1:${jobApiPort}`, ADMIN_URL: `http://127.0.0.1:${adminPort}` },
  });
  hand = await connectSession({ connect, timeoutMs: 60_000 });
  expect((await hand.multi([{ op: "create", path: ORPHAN, data: Buffer.alloc(0) }])).ok).toBe(true);
  const running = await Promise.all([
    fleet.start("admin", { PORT: String(adminPort) }),
    fleet.start("job-api", { PORT: String(jobApiPort) }),
    fleet.start("reporter", { MAIL_URL: server.url, MAIL_OPERATORS: "ops@example.org, eve@example.org" }),
    // It makes the schedules, whose first run is due at once.
    fleet.start("job-runner", { SYSTEM_SCHEDULES: "true", RETRY_DELAY_MS: "500", NODE_HANDLERS: "off" }),
  ]);
  await Promise.all(running.map(untilReady));
});
afterAll(async () => {
  await fleet.stop();
  await Promise.all([server.close(), hand.close()]);
});

test("findings of fleet/fsck-report are mailed to MAIL_OPERATORS, with rule, path and what to do", async () => {
  const [mail] = await waitFor(() => delivered.length > 0 && delivered, { what: "a mail" });
  expect(mail!.to).toEqual(["ops@example.org", "eve@example.org"]);
  expect(mail!.source).toMatch(/^Subject: .*fsck: \d+ findings?$/m);
  expect(mail!.source.replaceAll("=\r\n", "")).toContain(ORPHAN);
  expect(mail!.source).toContain("sluice fsck --repair --dry-run");
});
