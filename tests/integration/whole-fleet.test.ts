/** A batch through all eight services as separate processes, every invariant checked at every zxid. */
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type BatchId, type JobId, listBucket, meaningOf, parseBatchId, readBatch, readJobs } from "@sluice/queue-core";
import {
  checkInvariants,
  describeViolation,
  type OwnZooKeeper,
  ownZooKeeper,
  readTransactions,
  waitFor,
} from "@sluice/testkit";
import { connectSession, type Session } from "@sluice/zookeeper";
import { type Content, receiveCallbacks, type Receiver, serveContent } from "../support/content.ts";
import { inventoryCounts, mails, storedObjects } from "../support/effects.ts";
import { type Fleet, makeFleet, type Running } from "../support/fleet.ts";
import { doubledIn, linesOf } from "../support/log-lines.ts";
import { OBSERVER_SESSION_MS } from "../support/watch.ts";

let zk: OwnZooKeeper;
let fleet: Fleet;
let content: Content;
let receiver: Receiver;
let intake: Running;
let session: Session;

beforeAll(async () => {
  [zk, content, receiver] = await Promise.all([ownZooKeeper(), serveContent(), receiveCallbacks()]);
  fleet = await makeFleet({ zookeeper: zk.connect, callbackUrl: receiver.url });
  [intake] = (await fleet.startAll()) as [Running];
  session = await connectSession({ connect: zk.connect, timeoutMs: OBSERVER_SESSION_MS });
});
afterAll(async () => {
  await session.close();
  await fleet.stop();
  await Promise.all([zk.stop(), content.close(), receiver.close()]);
});

async function untilReported(id: BatchId): Promise<string> {
  return await waitFor(
    async () => {
      const view = await readBatch(session, id);
      const status = view.kind === "found" ? view.value.status.status : "";
      return ["Completed", "Failed"].includes(status) ? status : null;
    },
    { what: `report of ${id}` },
  );
}

describe("the whole fleet", () => {
  test("takes 200 objects from submission to stored, recorded, called back and reported", async () => {
    const id = await fleet.submit(intake, {
      payload_url: content.batchManifest(200),
      type: "single-file-batch-manifest",
    });
    expect(await untilReported(id)).toBe("Completed");

    const view = await readBatch(session, id);
    const completed = (await listBucket(session, id, "batch-completed")) ?? [];
    expect(completed).toHaveLength(200);
    expect(view).toMatchObject({
      value: {
        counts: { "batch-processing": 0, "batch-failed": 0 },
        report: { failed_jobs: [], successful_jobs: completed },
      },
    });
    const stored = await storedObjects(join(fleet.dataDir, "store"));
    expect(stored).toHaveLength(200);
    expect(stored.every(({ head }) => head === "v1")).toBe(true);
    expect(inventoryCounts(join(fleet.dataDir, "inventory.db"))).toMatchObject({
      objects: 200,
      versions: 200,
      ingests: 200,
    });
    expect(new Set(receiver.keys).size).toBe(200);
    expect(receiver.keys).toHaveLength(200);
    expect(await mails(fleet.dataDir)).toEqual([`${id}.1.eml`]);
  });

  test("takes an object manifest as one object of many files", async () => {
    const id = await fleet.submit(intake, {
      payload_url: content.objectManifest(5),
      type: "object-manifest",
      title: "Five files",
    });
    expect(await untilReported(id)).toBe("Completed");
    const [job] = (await readJobs(session, (await listBucket(session, id, "batch-completed")) ?? [])) ?? [];
    if (job?.kind !== "found") throw new Error("no job");
    const url = new URL(job.value.inventory?.manifest_url ?? "");
    const inventory = JSON.parse(await readFile(url, "utf8")) as {
      versions: Record<string, { state: Record<string, string[]> }>;
    };
    const names = Object.values(inventory.versions["v1"]?.state ?? {})
      .flat()
      .filter((name) => name.startsWith("producer/"));
    expect(names.sort()).toEqual([0, 1, 2, 3, 4].map((n) => `producer/file-${n}.txt`));
  });

  test("takes an uploaded file, and refuses one whose digest is wrong before it becomes a batch", async () => {
    const before = (await storedObjects(join(fleet.dataDir, "store"))).length;
    const bad = await upload("hello", "00000000000000000000000000000000");
    expect([bad.status, bad.text]).toEqual([422, expect.stringContaining("DIGEST_MISMATCH")]);
    const good = await upload("hello", "5d41402abc4b2a76b9719d911017c592");
    expect(good.status).toBe(200);
    const uuid = /\bbid-[0-9a-f-]{36}\b/.exec(good.text)?.[0] ?? "";
    const shown = (await (await fetch(`${intake.url}/v1/batches/${uuid}`)).json()) as { readonly bid: string };
    expect(await untilReported(parseBatchId(shown.bid)!)).toBe("Completed");
    expect(await storedObjects(join(fleet.dataDir, "store"))).toHaveLength(before + 1);
  });

  test("spends two transactions per stage on a lone job, one more for its ARK and one for its callback", async () => {
    const id = await fleet.submit(intake, { payload_url: content.file(3), type: "file", payload_name: "lone.txt" });
    expect(await untilReported(id)).toBe("Completed");
    const [job] = (await listBucket(session, id, "batch-completed")) ?? [];
    expect(writesByStage(zk.logDir, job!)).toEqual({
      "batch-intake": 3, // it is also made there
      estimator: 2,
      provisioner: 2,
      downloader: 2,
      processor: 3,
      recorder: 2,
      notifier: 3, // the callback is written down before it is first sent
    });
  });

  test("clears the working folder of every completed job", async () => {
    await waitFor(async () => {
      const batches = (await readdir(join(fleet.dataDir, "queue"))).filter((name) => name.startsWith("bid"));
      const left = await Promise.all(batches.map((batch) => readdir(join(fleet.dataDir, "queue", batch))));
      return left.flat().every((name) => !name.startsWith("jid"));
    });
  });

  test("wrote no line of its logs with a key that stands twice, and a line for each claim", async () => {
    const lines = await linesOf(fleet.dataDir);
    expect(doubledIn(lines)).toEqual([]);
    const claims = lines.filter(({ said }) => said["msg"] === "job claimed" && said["service"] === "recorder");
    expect(claims).toHaveLength((await storedObjects(join(fleet.dataDir, "store"))).length);
  });

  test("kept every invariant at every zxid", () => {
    const checked = checkInvariants({ logDir: zk.logDir, root: "/" });
    expect(checked.violations.map(describeViolation)).toEqual([]);
    expect(checked.transactions).toBeGreaterThan(500);
  });
});

/** Accepted transactions that touch a job's nodes outside /fleet, by the stage of their session. */
function writesByStage(logDir: string, job: JobId): Readonly<Record<string, number>> {
  const stages = new Map<bigint, string>();
  const counts: Record<string, number> = {};
  for (const { kind, session: author, ops } of readTransactions(logDir)) {
    if (kind !== "write") continue;
    for (const op of ops) {
      const meaning = meaningOf(op.path);
      if (op.op === "create" && meaning.kind === "worker") stages.set(author, meaning.stage);
    }
    const stage = stages.get(author) ?? "none";
    const touches = ops.some(({ path }) => path.includes(job) && !path.startsWith("/fleet"));
    // The reporter's sweep is no part of a stage's work.
    if (touches && stage !== "reporter") counts[stage] = (counts[stage] ?? 0) + 1;
  }
  return counts;
}

async function upload(body: string, md5: string): Promise<{ readonly status: number; readonly text: string }> {
  const form = new FormData();
  form.set("file", new Blob([body]), "hello.txt");
  for (const [name, value] of Object.entries({
    type: "file",
    profile: "sluice_test_content",
    submitter: "t",
    digestType: "md5",
    digestValue: md5,
    responseForm: "json",
  })) {
    form.set(name, value);
  }
  const answer = await fetch(`${intake.url}/poster/submit`, { method: "POST", body: form });
  return { status: answer.status, text: await answer.text() };
}
