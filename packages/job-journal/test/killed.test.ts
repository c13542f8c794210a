/** Processes that die by kill -9 wherever it hurts, with a real owner on a real ZooKeeper. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { checkQueue, type Command, ownShard, type ShardOwner } from "@sluice/job-queue";
import { FAILPOINTS as LOG_FAILPOINTS } from "@sluice/journal";
import { later, readTransactions, testZooKeeper, type TestZooKeeper, waitFor } from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { FAILPOINTS, openJobJournals, type Outcome } from "../src/index.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** One process after the other, on the same folder and the same shard. */
const DEATHS = [...FAILPOINTS, ...LOG_FAILPOINTS].map((step, n) => [step, 3 + 2 * (n % 4)] as const);

let zooKeeper: TestZooKeeper;
let folder: string;
beforeAll(async () => {
  zooKeeper = await testZooKeeper();
  folder = await mkdtemp(join(tmpdir(), "sluice-doomed-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const accepted = new Map<number, string>();
const finished = new Map<number, string>();

async function dies(step: string, times: number): Promise<void> {
  const args = [
    "packages/job-journal/test/doomed.mjs",
    zooKeeper.connect,
    folder,
    step,
    String(times),
    `${step}-${times}`,
  ];
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
  const [said, ended] = await Promise.all([text(child.stdout), once(child, "exit")]);
  expect({ step, ended }).toEqual({ step, ended: [null, "SIGKILL"] });
  for (const [, what, id, payload = ""] of said.matchAll(/^(\w+) (\d+) (\S+)$/gm)) {
    if (what === "accepted") {
      // An id that two jobs were given would be found here.
      expect(accepted.get(Number(id))).toBeUndefined();
      accepted.set(Number(id), payload);
    } else finished.set(Number(id), payload);
  }
  expect(said).not.toContain("bad");
}

async function own(session: Session): Promise<ShardOwner> {
  for (;;) {
    const owning = await ownShard(0, { session, apiId: "last", later });
    if (owning.ok) return owning.owner;
  }
}

async function jobsOf(owner: ShardOwner): Promise<ReadonlyMap<number, string>> {
  const jobs = new Map<number, string>();
  for (let after: number | undefined; ;) {
    const reply = await owner.ask({
      verb: "ListJobs",
      tenant: "default",
      limit: 500,
      ...(after === undefined ? {} : { after }),
    });
    if (reply?.content.kind !== "list") throw new Error("no list");
    for (const { jobID, data } of reply.content.jobs)
      jobs.set(jobID, (JSON.parse(data) as { payload: string }).payload);
    if (reply.content.next === null) return jobs;
    after = reply.content.next;
  }
}

async function isKnown(owner: ShardOwner, id: number): Promise<boolean> {
  const reply = await owner.ask({ verb: "DescribeJob", tenant: "default", id });
  return reply?.content.kind === "record" && reply.content.record.state === "FINISHED";
}

test("M4, M7, M9: killed at any step, no accepted job is lost, none is made twice, none comes back that was done", async () => {
  for (const [step, times] of DEATHS) await dies(step, times);

  const session = await connectSession({ connect: zooKeeper.connect, timeoutMs: 30_000 });
  const owner = await own(session);
  const routeShard = async (_shard: number, command: Command): Promise<Outcome> => {
    const reply = await owner.ask(command);
    return reply === null ? { kind: "unknown" } : { kind: "reply", reply };
  };
  const bad: unknown[] = [];
  const opened = await openJobJournals({
    folder,
    maxBytes: 10_000_000,
    segmentBytes: 600,
    clock: { nowMs: () => session.serverNowMs() },
    log: { badLine: (line) => bad.push(line), badRecord: (record) => bad.push(record), opened: () => undefined },
    queue: { routeShard },
    blobs: null,
    later,
  });
  if (!opened.ok) throw new Error(opened.problem);
  await waitFor(() => opened.journals.stats().get(0)?.lines === 0, { what: "all lines to be taken in" });
  await opened.journals.close();

  const jobs = await jobsOf(owner);
  const gone = [...accepted.keys()].filter((id) => !jobs.has(id) && !finished.has(id));
  const lost: number[] = [];
  for (const id of gone) if (!(await isKnown(owner, id))) lost.push(id);
  expect(accepted.size).toBeGreaterThan(100);
  expect(finished.size).toBeGreaterThan(10);
  expect({ lost, bad }).toEqual({ lost: [], bad: [] });
  // What was accepted is what is there, under its id.
  expect([...jobs].filter(([id, payload]) => (accepted.get(id) ?? payload) !== payload)).toEqual([]);
  // Done is done.
  expect([...finished.keys()].filter((id) => jobs.has(id))).toEqual([]);
  // No payload under two ids.
  const payloads = [...new Map([...jobs, ...finished]).values()];
  expect(new Set(payloads).size).toBe(payloads.length);
  // What is there without having been answered was under way at a death: five adds of up to three lines.
  expect([...jobs.keys()].filter((id) => !accepted.has(id)).length).toBeLessThanOrEqual(DEATHS.length * 15);

  await owner.resign();
  await session.close();
  expect(checkQueue(readTransactions(zooKeeper.logDir, zooKeeper.root), zooKeeper.root)).toEqual([]);
});
