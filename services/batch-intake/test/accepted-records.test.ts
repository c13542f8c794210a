/** Goal: whatever was answered 2xx has a record beside the files when it is answered, as long as its batch is in the queue. */
import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  batchFolder,
  type BatchId,
  type BatchUuid,
  parseBatchId,
  parseBatchUuid,
  paths,
  readBatch,
} from "@sluice/queue-core";
import { silentLog } from "@sluice/stage-runtime";
import { testZooKeeper } from "@sluice/testkit";
import { type AcceptedBatches, hasUploads, listAccepted, openAcceptedBatches } from "@sluice/working-folder";
import { type Session, systemClock } from "@sluice/zookeeper";
import { sweepAccepted } from "../src/duties/sweep-accepted.ts";
import { keepAcceptedIn } from "../src/files/accepted-records.ts";
import { folderOf, type IntakeSettings, makeSite, post, type Site, startIntake } from "./fleet-support.ts";
import { formOf } from "./http-support.ts";
import { makeCleanups } from "./support.ts";

const cleanups = makeCleanups();
afterEach(() => cleanups.run());

let site: Site;
let url: string;
let settings: IntakeSettings;
let workingDir: string;
let records: AcceptedBatches;
beforeEach(async () => {
  site = await makeSite(cleanups, await testZooKeeper(), (_req, res) => res.writeHead(404).end());
  settings = await site.settings();
  workingDir = settings.env["WORKING_DIR"] ?? "";
  url = await startIntake(cleanups, settings);
  records = await openAcceptedBatches(workingDir);
});

const SUBMISSION = { profile: "demo_content", payload_url: "http://content.example/a.txt?sig=s", title: "Notes" };
const submit = async (key?: string) => {
  const { bid, id, status } = await post(url, SUBMISSION, key);
  return { bid, status, uuid: parseBatchUuid(id)! };
};
const upload = (key: string): Promise<Response> =>
  fetch(`${url}/v1/batches`, {
    method: "POST",
    body: formOf({ profile: "demo_content", type: "file" }),
    headers: { "idempotency-key": key },
  });

async function sweep(): Promise<void> {
  const nothing = (): void => undefined;
  const keepAccepted = keepAcceptedIn(records, (place) => hasUploads(workingDir, place), nothing);
  const ctx = { clock: systemClock, log: silentLog(), queue: site.operator.ctx, signal: new AbortController().signal };
  const duty = sweepAccepted({ listed: () => listAccepted(workingDir), keepAccepted });
  await duty.run({ ...ctx, worker: "w", failpoint: () => Promise.resolve() });
}

/** As a restore of an older snapshot leaves it: the batch is not in the tree, which is of a later epoch. */
async function lose(uuid: BatchUuid): Promise<void> {
  const read = await records.read(uuid);
  if (read.kind !== "found") throw new Error(read.kind);
  const { session } = site.operator;
  const { place } = read.accepted;
  const all = await subtree(session, paths.batch(place.batchId));
  const reads = [...all, paths.batchUuid(uuid), paths.fleetBatch("Pending", place.batchId)];
  for (const path of reads) {
    const node = await session.get(path);
    if (node.ok) await session.multi([{ op: "delete", path, version: node.value.stat.version }]);
  }
  expect((await readBatch(session, place.batchId)).kind).toBe("none");
  await records.put({ ...read.accepted, place: { ...place, batchEpoch: place.batchEpoch - 1 } });
}

/** Children first. */
async function subtree(session: Session, path: string): Promise<readonly string[]> {
  const listed = await session.children(path);
  const names = listed.ok ? listed.value.names : [];
  const below = await Promise.all(names.map((name) => subtree(session, `${path}/${name}`)));
  return [...below.flat(), path];
}

test("a submission by URL, one with an upload, and one that is repeated", async () => {
  const { bid, uuid } = await submit("key");
  const place = { batchId: bid, batchEpoch: site.operator.identity.epoch };
  const { payload_url } = SUBMISSION;
  const found = { uuid, place, submission: { payload_url, erc_what: "Notes", profile_name: "demo_content" } };
  expect(await records.read(uuid)).toMatchObject({ kind: "found", accepted: found });
  expect((await upload("another")).status).toBe(202);
  expect((await listAccepted(workingDir))?.length).toBe(2);
  // Whoever took it died before it could write the record, and nobody was answered.
  await records.remove(uuid);
  expect((await submit("key")).bid).toBe(bid);
  expect(await records.read(uuid)).toMatchObject({ kind: "found", accepted: found });
});

test("a batch that has none gets one from the queue, and only that one is written", async () => {
  const [first, second] = [await submit(), await submit()];
  await records.remove(first.uuid);
  await writeFile(join(workingDir, ".accepted", `${second.uuid}.json`), "as it is");
  await sweep();
  expect(await records.read(first.uuid)).toMatchObject({ kind: "found", accepted: { uuid: first.uuid } });
  expect(await readFile(join(workingDir, ".accepted", `${second.uuid}.json`), "utf8")).toBe("as it is");
});

test("a disk that does not take it keeps nobody from a batch", async () => {
  const first = await submit();
  await rm(join(workingDir, ".accepted"), { recursive: true });
  await writeFile(join(workingDir, ".accepted"), "in the way");
  const second = await submit();
  expect([second.status, parseBatchId(second.bid)]).toEqual([202, second.bid]);
  await rm(join(workingDir, ".accepted"));
  await sweep();
  expect([...((await listAccepted(workingDir)) ?? [])].sort()).toEqual([first.uuid, second.uuid].sort());
});

describe("a submission that is repeated after a restore has lost its batch", () => {
  test("makes it under the number that it had, and another content under its key is refused", async () => {
    const { bid, uuid } = await submit("key");
    await lose(uuid);
    const other = await post(url, { ...SUBMISSION, title: "another" }, "key");
    expect(other.status).toBe(422);
    expect(await submit("key")).toMatchObject({ bid, status: 202 });
    expect(await records.read(uuid)).toMatchObject({ accepted: { place: { batchId: bid } } });
  });

  test("takes another number where its own is somebody else's, or its uploads are gone", async () => {
    const { bid, uuid } = await submit("key");
    await lose(uuid);
    await site.operator.session.multi([{ op: "create", path: paths.batch(bid), data: Buffer.alloc(0) }]);
    expect((await submit("key")).bid).not.toBe(bid);
    const first = (await (await upload("upload")).json()) as { bid: BatchId; id: string };
    await lose(parseBatchUuid(first.id)!);
    const second = (await (await upload("upload")).json()) as { bid: BatchId };
    expect(second.bid).not.toBe(first.bid);
  });

  test("keeps the uploads that are there, and drops what came again", async () => {
    const first = (await (await upload("upload")).json()) as { bid: BatchId; id: string };
    const uuid = parseBatchUuid(first.id)!;
    await lose(uuid);
    const read = await records.read(uuid);
    const place = read.kind === "found" ? read.accepted.place : null;
    await rename(join(workingDir, folderOf(site, first.bid)), join(workingDir, batchFolder(place!)));
    expect(((await (await upload("upload")).json()) as { bid: BatchId }).bid).toBe(first.bid);
    const folders = (await readdir(workingDir)).filter((name) => name.startsWith("bid"));
    expect(folders).toEqual([batchFolder(place!)]);
  });
});
