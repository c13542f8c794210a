import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { batchId, batchUuidFromKey } from "@sluice/queue-core";
import { type AcceptedBatch, listAccepted, openAcceptedBatches } from "../src/accepted.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-accepted-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const UUID = batchUuidFromKey("ada", "key");
const ACCEPTED = {
  uuid: UUID,
  place: { batchId: batchId(7), batchEpoch: 1_700_000_000 },
  submission: {
    profile_name: "demo_content",
    submitter: "ada",
    payload_url: "https://a.example/é?sig=1",
    type: "file",
  },
} as unknown as AcceptedBatch;

test("a record is found by the batch's name, says what was accepted and where, and goes when it is told to", async () => {
  const records = await openAcceptedBatches(root);
  expect(await listAccepted(root)).toEqual([]);
  expect(await records.has(UUID)).toBe(false);
  expect((await records.put(ACCEPTED)).ok).toBe(true);
  expect(await records.has(UUID)).toBe(true);
  expect(await listAccepted(root)).toEqual([UUID]);
  expect(await records.read(UUID)).toMatchObject({ kind: "found", accepted: ACCEPTED });
  expect(await records.read(batchUuidFromKey("ada", "other"))).toEqual({ kind: "none" });
  for (const _twice of [1, 2]) expect((await records.remove(UUID)).ok).toBe(true);
  expect(await listAccepted(root)).toEqual([]);
});

test("what is no record is told as such, and names of others are passed over", async () => {
  const records = await openAcceptedBatches(root);
  await records.put(ACCEPTED);
  const [name = ""] = await readdir(join(root, ".accepted"));
  await writeFile(join(root, ".accepted/notes.txt"), "");
  expect(await listAccepted(root)).toEqual([UUID]);
  const whole = { version: 1, uuid: UUID, batch: "bid0000000007", submission: {} };
  for (const text of ["", "[]", '{"version":2}', JSON.stringify(whole), JSON.stringify({ ...whole, batch: "x" })]) {
    await writeFile(join(root, ".accepted", name), text);
    expect(await records.read(UUID)).toMatchObject({ kind: "unreadable" });
  }
});

test("a working folder that cannot be read is not an empty one", async () => {
  await writeFile(join(root, "file"), "");
  expect(await listAccepted(join(root, "file"))).toBeNull();
});
