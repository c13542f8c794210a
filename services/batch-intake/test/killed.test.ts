import { afterEach, expect, test } from "@jest/globals";
import { checkInvariants, describeViolation, testZooKeeper } from "@sluice/testkit";
import {
  expectedNames,
  makeSite,
  manifestOf,
  payloadNamesOf,
  post,
  spawnIntake,
  startIntake,
  untilBatch,
  untilServed,
} from "./fleet-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

const ROWS = 1_000;

test("an intake killed in the middle of an expansion is continued by another one: exactly one job per row", async () => {
  const zookeeper = await testZooKeeper();
  const site = await makeSite(cleanups, zookeeper, (_req, res) => void res.end(manifestOf(ROWS)));
  // It dies at a random chunk, after the chunk was written and before it knows what comes next.
  const doomed = await site.settings({
    FAILPOINTS: "batch-intake.midEffect=kill@0.3",
    ZK_SESSION_TIMEOUT_MS: "4000",
    STAGE_CONCURRENCY: "1",
  });
  const ended = spawnIntake(cleanups, doomed);
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
});
