/** A recorder that uses CDL's library, beside a fleet of ours without one: every job gets through, and log and tree are well. */
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { fsck } from "@sluice/fsck";
import { type BatchId, beginBeside, readBatch } from "@sluice/queue-core";
import {
  cdlLibrary,
  type CdlLibrary,
  checkInvariants,
  consumeOne,
  describeViolation,
  newId,
  type OwnZooKeeper,
  ownZooKeeper,
  waitFor,
} from "@sluice/testkit";
import { connectSession, makeCommitter, type Session, systemClock } from "@sluice/zookeeper";
import { type Content, serveContent } from "../support/content.ts";
import { type Fleet, makeFleet, PIPELINE_SERVICES, type Running } from "../support/fleet.ts";
import { OBSERVER_SESSION_MS } from "../support/watch.ts";

const JOBS = 20;

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let intake: Running;
let session: Session;
let library: CdlLibrary;

beforeAll(async () => {
  [zk, content] = await Promise.all([ownZooKeeper(), serveContent()]);
  fleet = await makeFleet({ zookeeper: zk.connect });
  [intake] = (await fleet.startAll(PIPELINE_SERVICES.filter((service) => service !== "recorder"))) as [Running];
  session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
  library = await cdlLibrary(zk.connect, { timeoutMs: OBSERVER_SESSION_MS });
});
afterAll(async () => {
  await Promise.all([library.close(), session.close()]);
  await fleet.stop();
  await Promise.all([zk.stop(), content.close()]);
});

async function reported(id: BatchId): Promise<string | null> {
  const view = await readBatch(session, id);
  const status = view.kind === "found" ? view.value.status.status : "";
  return ["Completed", "Failed"].includes(status) ? status : null;
}

test("a batch is recorded by it and completed, and neither the log nor the tree shows anything else", async () => {
  const queue = { session, committer: makeCommitter(session), clock: systemClock, newId };
  const operator = { name: "olga", reason: "the inventory team keeps its service" };
  expect(await beginBeside(queue, operator, "recorder")).toEqual({ kind: "applied" });
  const id = await fleet.submit(intake, {
    payload_url: content.batchManifest(JOBS),
    type: "single-file-batch-manifest",
  });
  const recorded: string[] = [];
  const verdict = await waitFor(
    async () => {
      while (await consumeOne(library, "Recording", (job) => void recorded.push(job.primaryId)));
      return await reported(id);
    },
    { what: `report of ${id}`, progress: () => recorded.length },
  );
  expect(verdict).toBe("Completed");
  expect(recorded).toHaveLength(JOBS);
  expect(recorded.every((ark) => ark.startsWith("ark:/"))).toBe(true);
  expect(await readBatch(session, id)).toMatchObject({
    value: { counts: { "batch-processing": 0, "batch-failed": 0, "batch-completed": JOBS } },
  });

  const looked = await fsck(session);
  expect(looked.kind === "looked" && looked.report.findings).toEqual([]);
  const beside = new Map([[library.session.id, "recorder" as const]]);
  const { violations, transactions } = checkInvariants({ logDir: zk.logDir, beside });
  expect(transactions).toBeGreaterThan(JOBS * 10);
  expect(violations.map(describeViolation)).toEqual([]);
  // Not for nothing: to a checker that knows nothing of it, its work is a heap of faults.
  expect(checkInvariants({ logDir: zk.logDir }).violations.length).toBeGreaterThan(JOBS);
});
