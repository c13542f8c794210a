import { afterEach, expect, test } from "@jest/globals";
import { paths } from "@sluice/queue-core";
import { aBatchOfJobs, testWorker, testZooKeeper, waitFor } from "@sluice/testkit";
import { startAdmin, type TestAdmin } from "./support.ts";

let admin: TestAdmin;
afterEach(() => admin.stop());

const scrape = async (): Promise<string> => (await fetch(`${admin.opsUrl}/metrics`)).text();
const valueIn = (text: string, series: string): number | null => {
  const line = text.split("\n").find((each) => each.startsWith(`${series} `));
  return line === undefined ? null : Number(line.slice(series.length + 1));
};

/** An entry of a job that has none of its nodes. */
const ghost = `${paths.queue("Pending")}/50-jid0000009999`;
const GHOSTS = 'sluice_consistency_violations{rule="I-07",level="warn"}';

test("what contradicts itself in the tree is a gauge while it stands, and a zero again when it is mended", async () => {
  const { connect } = await testZooKeeper();
  const intake = await testWorker(connect, "batch-intake");
  await aBatchOfJobs(intake, 2);
  admin = await startAdmin(connect, { env: { FSCK_INTERVAL_MS: "100" } });
  const clean = await waitFor(async () => {
    const text = await scrape();
    return (valueIn(text, "sluice_consistency_last_check_timestamp_seconds") ?? 0) > 0 && text;
  });
  expect(valueIn(clean, GHOSTS)).toBe(0);
  expect(valueIn(clean, "sluice_consistency_check_interval_seconds")).toBe(0.1);

  await intake.session.multi([{ op: "create", path: ghost, data: Buffer.alloc(0) }]);
  const found = await waitFor(async () => {
    const text = await scrape();
    return /^sluice_consistency_violations\{.*\} [1-9]/m.test(text) && text;
  });
  expect(found).toMatch(/sluice_consistency_violations\{rule="I-07",level="(warn|fail)"\} 1/);

  await intake.session.multi([{ op: "delete", path: ghost, version: 0 }]);
  await waitFor(async () => !/^sluice_consistency_violations\{.*\} [1-9]/m.test(await scrape()));
  await intake.close();
});

test("an admin that is told so does not look, and says so", async () => {
  admin = await startAdmin((await testZooKeeper()).connect, { env: { FSCK_INTERVAL_MS: "0" } });
  const text = await scrape();
  expect(valueIn(text, "sluice_consistency_check_interval_seconds")).toBe(0);
  expect(valueIn(text, "sluice_consistency_last_check_timestamp_seconds")).toBe(0);
  expect(valueIn(text, GHOSTS)).toBeNull();
});
