/** The examples of the README, word for word, on a real ZooKeeper. */
import { describe, expect, test } from "@jest/globals";
import { aBatchOfJobs, advance, testWorker, testZooKeeper } from "@sluice/testkit";
import { connectSession, makeCommitter, type Session, systemClock } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import {
  type ActionResult,
  type BatchId,
  type CommitResult,
  type FleetIdentity,
  initTree,
  holdsGuard,
  type JobId,
  type JobStore,
  load,
  type LoadedJob,
  makeJobStore,
  paths,
  peek,
  type QueueContext,
  readBatch,
  readHolds,
  readJob,
  resumeJob,
  sortEntries,
} from "../src/index.ts";

async function openQueue(connect: string): Promise<{ queue: QueueContext; identity: FleetIdentity }> {
  const session = await connectSession({ connect, timeoutMs: 10_000 });
  const newId = () => randomBytes(9).toString("base64url");
  const queue = { session, committer: makeCommitter(session), clock: systemClock, newId };
  const tree = await initTree(queue); // makes what is missing
  if (!tree.ok) throw new Error(tree.problem);
  return { queue, identity: tree.identity };
}

async function takeOne(session: Session, jobs: JobStore, identity: FleetIdentity): Promise<LoadedJob | null> {
  const names = await session.children(paths.queue("Recording"));
  if (!names.ok) return null; // names.code says why: no answer, no such node
  const seen = await peek(session, "Recording", sortEntries(names.value.names).slice(0, 20));
  const candidate = seen.ok ? seen.value.find((one) => one.kind === "ready") : undefined;
  if (candidate === undefined) return null; // none, or all locked or put off
  const claim = await jobs.claim(candidate);
  if (claim.kind !== "acquired") return null; // held, gone: another has it; lost: the session is over
  const loaded = await load(session, [claim.lease], identity);
  const job = loaded.ok ? loaded.value[0] : undefined;
  return job?.ok === true ? job.value : null;
}

async function finish(queue: QueueContext, jobs: JobStore, loaded: LoadedJob): Promise<string> {
  const holds = await readHolds(queue.session);
  if (!holds.ok) return "no answer";
  const result = await jobs.commit(loaded, { kind: "done", changes: {} }, holdsGuard(holds.value));
  switch (result.kind) {
    case "applied":
      return `the job is ${result.to} now`;
    case "guarded":
      return "a hold came or went meanwhile: read the holds again and decide anew";
    case "fenced":
      return "somebody else moved the job: what was done here does not count";
    case "lost":
      return "the session is over: drop the job, another worker has it soon";
    case "refused":
      return `the table or the tree does not allow it: ${result.detail}`;
  }
}

async function notNow(jobs: JobStore, loaded: LoadedJob): Promise<CommitResult> {
  const wait = { delayMs: 60_000, why: "the database is being moved", countsAttempt: false };
  return await jobs.giveBack(loaded.lease, "snooze", wait);
}

async function giveUp(jobs: JobStore, loaded: LoadedJob): Promise<CommitResult> {
  return await jobs.commit(loaded, { kind: "fail", code: "RECORD_FAILED", message: "no such owner" });
}

async function resume(queue: QueueContext, id: JobId): Promise<ActionResult> {
  return await resumeJob(queue, { name: "jo", reason: "the owner has been added" }, id);
}

async function describeBatch(session: Session, id: BatchId): Promise<string> {
  const view = await readBatch(session, id);
  if (view.kind !== "found") return view.kind; // "none", "broken", "silence"
  const { status, counts, expansion } = view.value;
  const ended = counts["batch-completed"] + counts["batch-failed"] + counts["batch-deleted"];
  return `${status.status}: ${ended} of ${expansion?.rows ?? "?"} ended`;
}

/** A recorder, and one job that waits for it. */
async function recording() {
  const { connect } = await testZooKeeper();
  const intake = await testWorker(connect, "batch-intake");
  const { batch, jobs } = await aBatchOfJobs(intake, 1);
  await intake.close();
  await advance(connect, jobs[0]!, "Recording");
  const { queue, identity } = await openQueue(connect);
  return {
    queue,
    identity,
    batch,
    id: jobs[0]!,
    store: makeJobStore(queue, { stage: "recorder", worker: "recorder-1" }),
  };
}

describe("an example of the README", () => {
  test("claims a job and moves it on", async () => {
    const { queue, identity, id, store } = await recording();
    const loaded = await takeOne(queue.session, store, identity);
    expect(loaded?.job).toMatchObject({ id, state: "Recording", attempt: 1 });
    expect(await takeOne(queue.session, store, identity)).toBeNull();
    expect(await finish(queue, store, loaded!)).toBe("the job is Notify now");
    expect(await finish(queue, store, loaded!)).toMatch("somebody else moved the job");
    await queue.session.close();
  });

  test("puts a job off, at no cost of an attempt", async () => {
    const { queue, identity, id, store } = await recording();
    expect(await notNow(store, (await takeOne(queue.session, store, identity))!)).toMatchObject({ to: "Recording" });
    const view = await readJob(queue.session, id);
    expect(view).toMatchObject({ value: { lock: null, history: { attempts: 0, why: "the database is being moved" } } });
    expect(await takeOne(queue.session, store, identity)).toBeNull();
    await queue.session.close();
  });

  test("fails a job, tells how its batch stands, and resumes it where it was", async () => {
    const { queue, identity, batch, id, store } = await recording();
    expect(await describeBatch(queue.session, batch)).toBe("Processing: 0 of 1 ended");
    expect(await giveUp(store, (await takeOne(queue.session, store, identity))!)).toMatchObject({ to: "Failed" });
    expect(await describeBatch(queue.session, batch)).toBe("Processing: 1 of 1 ended");
    expect(await resume(queue, id)).toEqual({ kind: "applied" });
    expect((await takeOne(queue.session, store, identity))?.job).toMatchObject({ id, retryCount: 1 });
    await queue.session.close();
  });

  test("is the same there and here", async () => {
    const words = (text: string): string => text.replace(/\s+/g, " ").trim();
    const here = words(await readFile(new URL("readme.test.ts", import.meta.url), "utf8"));
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const examples = [...readme.matchAll(/```ts\n(async function[^]*?)```/g)].map((match) => words(match[1] ?? ""));
    expect(examples).toHaveLength(6);
    for (const example of examples) expect(here).toContain(example);
  });
});
