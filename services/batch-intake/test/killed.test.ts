import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, expect, test } from "@jest/globals";
import { checkInvariants, describeViolation, testZooKeeper } from "@sluice/testkit";
import {
  expectedNames,
  type IntakeSettings,
  makeSite,
  manifestOf,
  payloadNamesOf,
  post,
  startIntake,
  untilBatch,
  untilServed,
} from "./fleet-support.ts";
import { makeCleanups } from "./support.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const cleanups = makeCleanups();
afterEach(() => cleanups.run());

/** A process can only be killed if it is one: it runs what was built, so that is built first. */
beforeAll(async () => {
  const args = ["node_modules/typescript/bin/tsc", "-b", "services/batch-intake/tsconfig.build.json"];
  const [code] = (await once(spawn(process.execPath, args, { cwd: ROOT, stdio: "inherit" }), "exit")) as [number];
  expect(code).toBe(0);
}, 180_000);

function spawnIntake({ env }: IntakeSettings) {
  const child = spawn(process.execPath, ["services/batch-intake/dist/main.js"], {
    cwd: ROOT,
    env: { PATH: process.env["PATH"], LOG_LEVEL: "silent", ...env },
    stdio: "inherit",
  });
  const ended = once(child, "exit");
  cleanups.add(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  return ended;
}

const ROWS = 1_000;

test("an intake killed in the middle of an expansion is continued by another one: exactly one job per row", async () => {
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (_req, res) => void res.end(manifestOf(ROWS)));
  // It dies at a random chunk, after the chunk was written and before it knows what comes next.
  const doomed = await site.settings({
    FAILPOINTS: "batch-intake.midEffect=kill@0.3",
    ZK_SESSION_TIMEOUT_MS: "2000",
    STAGE_CONCURRENCY: "1",
  });
  const ended = spawnIntake(doomed);
  await untilServed(doomed.url);
  const { bid } = await post(doomed.url, {
    profile: "demo_content",
    type: "single-file-batch-manifest",
    payload_url: `${site.contentUrl}/list`,
  });
  expect(await ended).toEqual([null, "SIGKILL"]);
  const atDeath = await untilBatch(site, bid, ({ expansion }) => expansion !== null);
  await startIntake(cleanups, await site.settings());
  await untilBatch(site, bid, ({ expansion }) => expansion?.created === ROWS);

  expect(await payloadNamesOf(site, bid)).toEqual(expectedNames(ROWS));
  expect(atDeath.expansion?.created).toBeLessThan(ROWS);
  const result = checkInvariants({ logDir: zookeeper.logDir, root: zookeeper.root });
  expect(result.violations.map(describeViolation)).toEqual([]);
}, 120_000);
