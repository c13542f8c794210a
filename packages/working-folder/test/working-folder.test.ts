import { existsSync, mkdtempSync } from "node:fs";
import { readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { batchId, type BatchPlace, type ClaimName, FIRST_EPOCH, jobId, type JobPlace } from "@sluice/queue-core";
import type { Outcome } from "@sluice/safe-io";
import { type ClaimFolder, MANIFEST_FILE, openWorkingFolder, takeOver, type WorkingFolder } from "../src/index.ts";

const BID = batchId(1);
const JID = jobId(7);
/** Of the time before there were epochs. */
const BATCH: BatchPlace = { batchId: BID, batchEpoch: FIRST_EPOCH };
const JOB: JobPlace = { ...BATCH, id: JID };
const claimNo = (token: number, epoch = FIRST_EPOCH): ClaimName => ({ epoch, token });

const producersOf = (claims: readonly ClaimFolder[]) => claims.map(({ producer }) => producer);

let root: string;
let folder: WorkingFolder;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "working-folder-"));
  folder = await openWorkingFolder(root);
});
afterEach(() => rm(root, { recursive: true, force: true }));

function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.error.message);
  return outcome.value;
}

const claimOf = async (token: number): Promise<ClaimFolder> => valueOf(await folder.claimFolder(JOB, claimNo(token)));
const earlierOf = async (token: number) => valueOf(await folder.earlierClaims(JOB, claimNo(token)));

async function put(token: number, name: string, text: string): Promise<string> {
  const { producer } = await claimOf(token);
  valueOf(await producer.write(name, text));
  return join(producer.root, name);
}

describe("where things are", () => {
  test("everything of a job is below its batch, its job and its claim", async () => {
    const claim = await claimOf(12);
    expect(claim.top.root).toBe(join(root, BID, JID, ".claim-12"));
    expect(claim.producer.root).toBe(join(root, BID, JID, ".claim-12", "producer"));
    expect(claim.system.root).toBe(join(root, BID, JID, ".claim-12", "system"));
    expect(folder.jobFolder(JOB)).toBe(join(root, BID, JID));
    expect(folder.batchManifest(BATCH)).toBe(join(root, BID, "manifest.checkm"));
    expect(valueOf(await folder.batchFolder(BATCH)).root).toBe(join(root, BID));
    expect(valueOf(await folder.uploads(BATCH)).root).toBe(join(root, BID, "uploads"));
  });

  test.each([["bid1"], ["../bid0000000001"], ["bid0000000001/.."], ["jid0000000001"]])("%j is no batch id", (bid) => {
    const batch = { ...BATCH, batchId: bid as BatchPlace["batchId"] };
    expect(() => folder.batchManifest(batch)).toThrow(RangeError);
    expect(() => folder.batchFolder(batch)).toThrow(RangeError);
    expect(() => folder.removeBatch(batch)).toThrow(RangeError);
    expect(() => folder.jobFolder({ ...batch, id: JID })).toThrow(RangeError);
  });

  test("what is no job id, token or epoch is refused", async () => {
    expect(() => folder.jobFolder({ ...JOB, id: "jid1" as JobPlace["id"] })).toThrow(RangeError);
    for (const epoch of [0, -1, 1.5]) {
      expect(() => folder.batchFolder({ ...BATCH, batchEpoch: epoch })).toThrow(RangeError);
      await expect(folder.claimFolder(JOB, claimNo(1, epoch))).rejects.toThrow(RangeError);
    }
    await expect(folder.claimFolder(JOB, claimNo(-1))).rejects.toThrow(RangeError);
    await expect(folder.claimFolder(JOB, claimNo(1.5))).rejects.toThrow(RangeError);
  });

  test("the folders of a batch and of a claim have their epochs in their names", async () => {
    const job: JobPlace = { ...JOB, batchEpoch: 1_700_000_000 };
    const claim = valueOf(await folder.claimFolder(job, claimNo(12, 1_800_000_000)));
    expect(claim.top.root).toBe(join(root, `${BID}-1700000000`, JID, ".claim-1800000000-12"));
    expect(folder.batchManifest(job)).toBe(join(root, `${BID}-1700000000`, MANIFEST_FILE));
    expect(folder.batchManifest(job)).not.toBe(folder.batchManifest(JOB));
  });

  test("a folder that cannot be made is told at once", async () => {
    await writeFile(join(root, "file"), "");
    await expect(openWorkingFolder(join(root, "file", "below"))).rejects.toThrow("the working folder");
  });
});

describe("a claim's folder", () => {
  test("is made once and keeps its files when it is asked for again", async () => {
    await put(3, "a.txt", "a");
    const again = await claimOf(3);
    expect(valueOf(await again.producer.files())).toMatchObject([{ name: "a.txt", bytes: 1 }]);
  });

  test("cannot be read before it is made, and reading does not make it", async () => {
    expect(await folder.filesOf(JOB, claimNo(9))).toMatchObject({ ok: false, error: { code: "NOT_FOUND" } });
    expect(existsSync(join(root, BID))).toBe(false);
  });

  test("is refused when a link stands in its place", async () => {
    await claimOf(1);
    await symlink(tmpdir(), join(root, BID, JID, ".claim-2"));
    expect(await folder.claimFolder(JOB, claimNo(2))).toMatchObject({ ok: false, error: { code: "LINK_REFUSED" } });
    expect(await folder.filesOf(JOB, claimNo(2))).toMatchObject({ ok: false, error: { code: "LINK_REFUSED" } });
  });
});

describe("taking over", () => {
  const good = () => Promise.resolve(true);
  const bad = () => Promise.resolve(false);

  test("moves a good file of the latest earlier claim that has it", async () => {
    const one = await put(1, "x/a.txt", "one");
    const two = await put(2, "x/a.txt", "two");
    await claimOf(3);
    const claim = await claimOf(5);
    expect(await takeOver(claim.producer, producersOf(await earlierOf(5)), "x/a.txt", good)).toBe(true);
    expect(await readFile(join(claim.producer.root, "x/a.txt"), "utf8")).toBe("two");
    expect([existsSync(one), existsSync(two)]).toEqual([true, false]);
  });

  test("leaves a bad file where it is", async () => {
    const old = await put(1, "a.txt", "one");
    const claim = await claimOf(5);
    expect(await takeOver(claim.producer, producersOf(await earlierOf(5)), "a.txt", bad)).toBe(false);
    expect(existsSync(old)).toBe(true);
    expect(await readdir(claim.producer.root)).toEqual([]);
  });

  test("never takes from a claim that came later: its owner is the one who lives", async () => {
    await put(9, "a.txt", "later");
    expect(await earlierOf(5)).toEqual([]);
  });

  test("counts every claim of an earlier epoch as earlier, whatever its token, and none of a later one", async () => {
    for (const [token, epoch] of [
      [90, 1],
      [4, 20],
      [1, 30],
    ] as const)
      valueOf(await folder.claimFolder(JOB, claimNo(token, epoch)));
    const earlier = valueOf(await folder.earlierClaims(JOB, claimNo(2, 30)));
    expect(earlier.map(({ claim }) => claim)).toEqual([claimNo(1, 30), claimNo(4, 20), claimNo(90, 1)]);
    expect(valueOf(await folder.earlierClaims(JOB, claimNo(0, 20)))).toHaveLength(1);
  });

  test("does not follow a link", async () => {
    const old = await claimOf(1);
    await symlink("/etc/hostname", join(old.producer.root, "a.txt"));
    expect(await takeOver((await claimOf(5)).producer, [old.producer], "a.txt", good)).toBe(false);
  });

  test("does not take a name that leaves the folder", async () => {
    await put(1, "a.txt", "one");
    const claim = await claimOf(5);
    expect(await takeOver(claim.producer, producersOf(await earlierOf(5)), "../producer/a.txt", good)).toBe(false);
  });

  test("of a file that somebody else moved meanwhile is no error", async () => {
    const path = await put(1, "a.txt", "one");
    const vanishes = async () => {
      await rm(path);
      return true;
    };
    expect(await takeOver((await claimOf(5)).producer, producersOf(await earlierOf(5)), "a.txt", vanishes)).toBe(false);
  });
});

describe("removing", () => {
  test("prunes earlier claims but those that count, and nothing of a later one", async () => {
    for (const token of [1, 2, 5, 8]) await claimOf(token);
    valueOf(await folder.pruneClaims(JOB, [claimNo(1), claimNo(5)]));
    expect((await readdir(folder.jobFolder(JOB))).sort()).toEqual([".claim-1", ".claim-5", ".claim-8"]);
  });

  test("prunes what earlier epochs have left, but for the claim that counts", async () => {
    for (const claim of [claimNo(5), claimNo(7), claimNo(5, 9), claimNo(0, 9), claimNo(1, 9)])
      valueOf(await folder.claimFolder(JOB, claim));
    valueOf(await folder.pruneClaims(JOB, [claimNo(5), claimNo(1, 9)]));
    expect((await readdir(folder.jobFolder(JOB))).sort()).toEqual([".claim-5", ".claim-9-1", ".claim-9-5"]);
  });

  test("prunes nothing when nothing is to be kept: that would be removal", async () => {
    await claimOf(1);
    valueOf(await folder.pruneClaims(JOB, []));
    expect(await readdir(folder.jobFolder(JOB))).toEqual([".claim-1"]);
  });

  test("removes a job, then its batch, and does not mind when they are gone", async () => {
    valueOf(await valueOf(await folder.batchFolder(BATCH)).write(MANIFEST_FILE, "rows"));
    await claimOf(1);
    valueOf(await folder.claimFolder({ ...JOB, id: jobId(8) }, claimNo(1)));
    valueOf(await folder.removeJob(JOB));
    expect((await readdir(join(root, BID))).sort()).toEqual(["jid0000000008", MANIFEST_FILE]);
    valueOf(await folder.removeBatch(BATCH));
    expect(await readdir(root)).toEqual([]);
    valueOf(await folder.removeJob(JOB));
    valueOf(await folder.removeBatch(BATCH));
  });

  test("removes a link, not what it points to", async () => {
    const outside = join(root, "outside.txt");
    await writeFile(outside, "precious");
    await symlink(root, join((await claimOf(1)).producer.root, "link"));
    valueOf(await folder.removeJob(JOB));
    expect(await readFile(outside, "utf8")).toBe("precious");
    expect(existsSync(join(root, BID, JID))).toBe(false);
  });
});
