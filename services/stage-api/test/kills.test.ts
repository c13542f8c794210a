/** Both sides die at the worst moments: a claim is settled once, or not at all, and every caller learns which. */
import { type Child, freePort, startChild } from "@sluice/local-parts";
import { paths, readJob } from "@sluice/queue-core";
import {
  aBatchOfJobs,
  advance,
  checkInvariants,
  describeViolation,
  makeTree,
  type TestWorker,
  testWorker,
  type TestZooKeeper,
  testZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Caller, startStageApi, type TestStageApi, tokensFile } from "./support/stage-api.ts";

const PROGRAM = fileURLToPath(new URL("../../../dist/programs/stage-api.js", import.meta.url));

let zookeeper: TestZooKeeper;
let tools: TestWorker;
let other: TestStageApi;
let dir: string;
let child: Child;
let url: string;
beforeEach(async () => {
  zookeeper = await testZooKeeper();
  await makeTree(zookeeper.connect);
  tools = await testWorker(zookeeper.connect, "batch-intake");
  dir = await mkdtemp(join(tmpdir(), "sluice-stage-kills-"));
});
afterEach(async () => {
  await child.kill("SIGKILL");
  await Promise.all([other.stop(), tools.close(), rm(dir, { recursive: true, force: true })]);
  const { logDir, root } = zookeeper;
  expect(checkInvariants({ logDir, root }).violations.map(describeViolation)).toEqual([]);
});

/** One as a process that dies at a failpoint, and one beside it that lives. */
async function start(failpoints: string): Promise<void> {
  const [port, metrics] = [await freePort(), await freePort()];
  const tokens = join(dir, "tokens.json");
  await writeFile(tokens, tokensFile());
  url = `http://127.0.0.1:${port}`;
  child = await startChild({
    command: process.execPath,
    args: [PROGRAM],
    cwd: dir,
    logFile: join(dir, "stage-api.log"),
    env: {
      ...process.env,
      ...{ ZOOKEEPER_CONNECT: zookeeper.connect, ZK_SESSION_TIMEOUT_MS: "2000", POLL_INTERVAL_MS: "100" },
      ...{ PORT: String(port), METRICS_PORT: String(metrics), WORKER_ID: "mortal" },
      ...{ AUTH: "on", AUTH_TOKENS_FILE: tokens, FAILPOINTS: failpoints },
    },
  });
  await waitFor(async () => (await fetch(`http://127.0.0.1:${metrics}/readyz`).catch(() => null))?.ok === true);
  other = await startStageApi(zookeeper.connect, "immortal");
}

async function aJob() {
  const { jobs } = await aBatchOfJobs(tools, 1);
  await advance(zookeeper.connect, jobs[0]!, "Recording");
  return jobs[0]!;
}

const status = async (id: Awaited<ReturnType<typeof aJob>>) => {
  const view = await readJob(tools.session, id);
  return view.kind === "found" ? view.value.status.status : view.kind;
};

/** As a program would: as long as it is told to come again, and to whomever answers. */
async function insist(caller: Caller, claim: string, word: string, body: object = {}) {
  return await waitFor(async () => {
    const said = await caller.of(claim, word, body).catch(() => null);
    return said === null || said.status === 503 ? null : said;
  });
}

test("a stage-api that dies between the commit and its answer has committed: the word is repeated elsewhere", async () => {
  await start("stage-api.afterCommit=kill");
  const id = await aJob();
  const { claim } = await new Caller(url).take();
  await expect(new Caller(url).of(claim, "done")).rejects.toThrow();
  const said = await insist(new Caller(other.url), claim, "done");
  expect(said).toEqual({ status: 200, body: { outcome: "done", state: "Notify", repeated: true } });
  expect(await status(id)).toBe("Notify");
});

test("a stage-api that dies before the commit has not: the job is offered again, and the stale word is refused", async () => {
  await start("stage-api.beforeCommit=kill");
  const id = await aJob();
  const { claim } = await new Caller(url).take();
  await expect(new Caller(url).of(claim, "done")).rejects.toThrow();
  const said = await insist(new Caller(other.url), claim, "done");
  expect(said).toMatchObject({ status: 410, body: { code: "CLAIM_LOST" } });
  const again = await new Caller(other.url).take();
  expect(again.job).toMatchObject({ id, attempt: 2 });
  // Also while the next one works on it.
  expect(await new Caller(other.url).of(claim, "done")).toMatchObject({ status: 410 });
  expect((await new Caller(other.url).of(again.claim, "done")).body).toMatchObject({
    outcome: "done",
    repeated: false,
  });
});

test("a stage-api that dies in the middle of a take costs its caller nothing but another one", async () => {
  await start("stage-api.afterClaim=kill");
  const id = await aJob();
  await expect(new Caller(url).take({}, "take-1")).rejects.toThrow();
  const taken = await waitFor(async () => {
    const { body } = await new Caller(other.url).ask({ wait_ms: 1_000 }, "take-1");
    return typeof body.claim === "string" ? body : null;
  });
  expect(taken.job).toMatchObject({ id, attempt: 2 });
  const listed = await tools.session.children(paths.stageWorkers("recorder"));
  expect(listed.ok ? listed.value.names : []).toEqual(["java-1"]);
});
