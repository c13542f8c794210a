/**
 * Goal: a large manifest becomes exactly one job per row, whoever dies while it is read.
 * Method: every intake is killed after a chunk that chance chooses; the next one continues, until all rows are jobs.
 */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { type BatchId, listBucket, readBatch, readJobs } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type OwnZooKeeper,
  ownZooKeeper,
  type TestWorker,
  testWorker,
  waitFor,
} from "@sluice/testkit";
import { sized } from "../support/campaign.ts";
import { type Content, serveContent } from "../support/content.ts";
import { type Fleet, makeFleet, type Running, untilReady } from "../support/fleet.ts";

const ROWS = sized({ smoke: 1_000, whole: 10_000 });
const DEATHS = sized({ smoke: 1, whole: 8 });
/** After a transaction of 25 rows: early enough that all deaths come before the last row. */
const DEADLY = { FAILPOINTS: `batch-intake.midEffect=kill@${sized({ smoke: 0.3, whole: 0.08 })}` };
const SESSION_MS = 4_000;
const JOBS_PER_READ = 100;

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let operator: TestWorker;

beforeAll(async () => {
  [zk, content] = await Promise.all([ownZooKeeper(), serveContent()]);
  fleet = await makeFleet({ zookeeper: zk.connect, sessionMs: SESSION_MS, env: { POLL_INTERVAL_MS: "200" } });
  operator = await testWorker(zk.connect, "operator", { register: false });
});
afterAll(async () => {
  await operator.close();
  await fleet.stop();
  await Promise.all([zk.stop(), content.close()]);
});

async function createdOf(id: BatchId): Promise<number> {
  const view = await readBatch(operator.session, id);
  if (view.kind !== "found") throw new Error(`${id}: ${view.kind}`);
  return view.value.expansion?.created ?? 0;
}

async function startIntake(env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const intake = await fleet.start("batch-intake", env);
  await untilReady(intake);
  return intake;
}

/** Names of the payloads of a batch's jobs, in the order of the jobs. */
async function payloadNamesOf(id: BatchId): Promise<readonly (string | undefined)[]> {
  const jobs = (await listBucket(operator.session, id, "batch-processing")) ?? [];
  const names: (string | undefined)[] = [];
  for (let i = 0; i < jobs.length; i += JOBS_PER_READ) {
    const views = (await readJobs(operator.session, jobs.slice(i, i + JOBS_PER_READ))) ?? [];
    names.push(...views.map((view) => (view.kind === "found" ? view.value.configuration.payload_name : undefined)));
  }
  return names;
}

test("an intake killed in the middle of an expansion is continued by another one: exactly one job per row", async () => {
  let intake = await startIntake(DEADLY);
  const payload = { payload_url: content.batchManifest(ROWS), type: "single-file-batch-manifest" };
  const id = await fleet.submit(intake, payload);
  const createdAtDeaths: number[] = [];
  while (createdAtDeaths.length < DEATHS) {
    expect(await intake.child.exited).toBe("signal SIGKILL");
    createdAtDeaths.push(await createdOf(id));
    // It may die before it is asked whether it is ready.
    intake = await (createdAtDeaths.length < DEATHS ? fleet.start("batch-intake", DEADLY) : startIntake());
  }
  let created = createdAtDeaths.at(-1)!;
  expect(created).toBeLessThan(ROWS);
  const allRows = async (): Promise<boolean> => (created = await createdOf(id)) === ROWS;
  await waitFor(allRows, { what: `${ROWS} rows`, progress: () => created });

  expect(await payloadNamesOf(id)).toEqual(Array.from({ length: ROWS }, (_, i) => `file-${i}.txt`));
  console.log("rows at each death:", createdAtDeaths.join(", "));
});

test("kept every invariant at every zxid", () => {
  const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
  expect(checked.violations.map(describeViolation)).toEqual([]);
});
