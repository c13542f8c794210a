import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { type BatchPlace, batchId, batchUuidFromKey, FIRST_EPOCH, type Submission } from "@sluice/queue-core";
import { type AcceptedBatch, listAccepted, openAcceptedBatches, readAccepted } from "../src/accepted.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-accepted-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const PLACE: BatchPlace = { batchId: batchId(7), batchEpoch: 1_700_000_000 };
const ACCEPTED = {
  uuid: batchUuidFromKey("ada", "key"),
  submission: {
    profile_name: "demo_content",
    submitter: "ada",
    payload_url: "https://a.example/é?sig=1",
    type: "file",
  },
} as unknown as AcceptedBatch & { readonly submission: Submission };

test("a record is found by the batch's number and epoch, says what was accepted, and goes when it is told to", async () => {
  const records = await openAcceptedBatches(root);
  expect(await listAccepted(root)).toEqual([]);
  expect(await records.has(PLACE)).toBe(false);
  expect((await records.put(PLACE, ACCEPTED)).ok).toBe(true);
  expect(await records.has(PLACE)).toBe(true);
  expect(await listAccepted(root)).toEqual([PLACE]);
  expect(await readAccepted(root, PLACE)).toMatchObject({ kind: "found", accepted: ACCEPTED });
  expect(await readAccepted(root, { ...PLACE, batchEpoch: FIRST_EPOCH })).toEqual({ kind: "none" });
  for (const _twice of [1, 2]) expect((await records.remove(PLACE)).ok).toBe(true);
  expect(await listAccepted(root)).toEqual([]);
});

test("what is no record is told as such, and names of others are passed over", async () => {
  const records = await openAcceptedBatches(root);
  await records.put(PLACE, ACCEPTED);
  await writeFile(join(root, ".accepted/notes.txt"), "");
  expect(await listAccepted(root)).toEqual([PLACE]);
  const [name = ""] = (await readdir(join(root, ".accepted"))).filter((each) => each.startsWith("bid"));
  for (const text of ["", "[]", '{"version":2}', JSON.stringify({ version: 1, uuid: ACCEPTED.uuid, submission: {} })]) {
    await writeFile(join(root, ".accepted", name), text);
    expect(await readAccepted(root, PLACE)).toMatchObject({ kind: "unreadable" });
  }
});

test("a working folder that cannot be read is not an empty one", async () => {
  await writeFile(join(root, "file"), "");
  expect(await listAccepted(join(root, "file"))).toBeNull();
});
