/** Goal: whatever was answered 2xx has a record beside the files when it is answered, as long as its batch is in the queue. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type BatchId, batchFolder, type BatchPlace, parseBatchId } from "@sluice/queue-core";
import { silentLog } from "@sluice/stage-runtime";
import { testZooKeeper } from "@sluice/testkit";
import { listAccepted, openAcceptedBatches, readAccepted } from "@sluice/working-folder";
import { systemClock } from "@sluice/zookeeper";
import { sweepAccepted } from "../src/duties/sweep-accepted.ts";
import { keepAcceptedIn } from "../src/files/accepted-records.ts";
import { makeSite, post, type Site, startIntake } from "./fleet-support.ts";
import { formOf } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

let site: Site;
let url: string;
let workingDir: string;
beforeEach(async () => {
  site = await makeSite(cleanups, await testZooKeeper(), (_req, res) => res.writeHead(404).end());
  const settings = await site.settings();
  workingDir = settings.env["WORKING_DIR"] ?? "";
  url = await startIntake(cleanups, settings);
});

const placeOf = (batchId: BatchId): BatchPlace => ({ batchId, batchEpoch: site.operator.identity.epoch });
const recordFile = (bid: BatchId): string => join(workingDir, ".accepted", `${batchFolder(placeOf(bid))}.json`);
const SUBMISSION = { profile: "demo_content", payload_url: "http://content.example/a.txt?sig=s", title: "Notes" };

async function sweep(unkept: BatchId[] = []): Promise<void> {
  const keepAccepted = keepAcceptedIn(await openAcceptedBatches(workingDir), ({ batchId }) => unkept.push(batchId));
  const ctx = { clock: systemClock, log: silentLog(), queue: site.operator.ctx, signal: new AbortController().signal };
  await sweepAccepted({ listed: () => listAccepted(workingDir), keepAccepted }).run({
    ...ctx,
    worker: "w",
    failpoint: () => Promise.resolve(),
  });
}

test("a submission by URL, one with an upload, and one that is repeated", async () => {
  const { bid, id } = await post(url, SUBMISSION, "key");
  const record = await readAccepted(workingDir, placeOf(bid));
  expect(record).toMatchObject({
    kind: "found",
    accepted: {
      uuid: id,
      submission: { payload_url: SUBMISSION.payload_url, erc_what: "Notes", profile_name: "demo_content" },
    },
  });
  const form = formOf({ profile: "demo_content", type: "file", responseForm: "json" });
  const uploaded = await fetch(`${url}/poster/submit`, { method: "POST", body: form });
  expect(uploaded.status).toBe(200);
  expect((await listAccepted(workingDir))?.length).toBe(2);
  // Whoever took it died before it could write the record, and nobody was answered.
  await rm(recordFile(bid));
  expect((await post(url, SUBMISSION, "key")).bid).toBe(bid);
  expect(await readAccepted(workingDir, placeOf(bid))).toMatchObject({ kind: "found", accepted: { uuid: id } });
});

test("a batch that has none gets one from the queue, and only that one is written", async () => {
  const first = await post(url, SUBMISSION);
  const second = await post(url, SUBMISSION);
  const before = await readFile(recordFile(second.bid), "utf8");
  await rm(recordFile(first.bid));
  await writeFile(recordFile(second.bid), "as it is");
  await sweep();
  expect(await readAccepted(workingDir, placeOf(first.bid))).toMatchObject({
    kind: "found",
    accepted: { uuid: first.id },
  });
  expect(await readFile(recordFile(second.bid), "utf8")).toBe("as it is");
  expect(before).toContain(second.id);
});

test("a disk that does not take it is told, and keeps nobody from a batch", async () => {
  const { bid } = await post(url, SUBMISSION);
  await rm(join(workingDir, ".accepted"), { recursive: true });
  await writeFile(join(workingDir, ".accepted"), "in the way");
  const second = await post(url, SUBMISSION);
  expect([second.status, parseBatchId(second.bid)]).toEqual([202, second.bid]);
  await rm(join(workingDir, ".accepted"));
  const unkept: BatchId[] = [];
  await sweep(unkept);
  expect((await listAccepted(workingDir))?.map(({ batchId }) => batchId).sort()).toEqual([bid, second.bid].sort());
  expect(unkept).toEqual([]);
});
