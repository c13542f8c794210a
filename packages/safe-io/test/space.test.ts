/** The room of a volume, as its operator reads it from df. */
import { tmpdir } from "node:os";
import { expect, test } from "@jest/globals";
import { roomOf, volumeSpace } from "../src/disk/space.ts";

test("what is kept back for root is no room, and is not used either", () => {
  // df calls this volume 11 % used: 10 of the 90 blocks that are there for everybody.
  const { totalBytes, freeBytes } = roomOf({ bsize: 4096, blocks: 200, bfree: 190, bavail: 80 });
  expect([totalBytes, freeBytes]).toEqual([90 * 4096, 80 * 4096]);
});

test("a volume that keeps nothing back is as large as it is", () => {
  expect(roomOf({ bsize: 512, blocks: 100, bfree: 40, bavail: 40 })).toEqual({
    totalBytes: 51_200,
    freeBytes: 20_480,
  });
});

test("a real volume has no more free than there is", async () => {
  const space = await volumeSpace(tmpdir());
  expect(space).toMatchObject({ ok: true });
  if (space.ok) expect(space.value.freeBytes).toBeLessThanOrEqual(space.value.totalBytes);
});
