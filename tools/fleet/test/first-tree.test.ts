/** `npm start` makes a tree for an empty data folder, and none beside what is left of a fleet. */
import { afterEach, expect, test } from "@jest/globals";
import { testZooKeeper } from "@sluice/testkit";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareTree } from "../src/first-tree.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function dataFolder(...files: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-data-"));
  folders.push(folder);
  for (const name of ["queue/.incoming", "store", "profiles", "logs"])
    await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, "profiles", "demo_content"), "");
  for (const file of files) {
    await mkdir(join(folder, file, ".."), { recursive: true });
    await writeFile(join(folder, file), "");
  }
  return folder;
}

const place = async (): Promise<string> => `${(await testZooKeeper()).connect}/fleet-of-one`;

test("an empty folder gets a tree, and finds it the next time, with state beside it", async () => {
  const zookeeper = await place();
  expect(await prepareTree(zookeeper, await dataFolder())).toEqual({ kind: "made" });
  expect(await prepareTree(zookeeper, await dataFolder("inventory.db"))).toEqual({ kind: "found" });
});

test.each([
  ["queue/bid0000000001/uploads/a.txt", "queue"],
  ["journal/batch-intake/00000000000000000001.log", "journal"],
  ["store/0=ocfl_1.1", "store"],
  ["job-store/archive/1.jsonl", "job-store"],
  ["inventory.db", "inventory.db"],
])("a folder that holds %s gets none", async (file, what) => {
  const zookeeper = await place();
  const kept = { kind: "kept", what: [what] };
  expect(await prepareTree(zookeeper, await dataFolder(file))).toEqual(kept);
  expect(await prepareTree(zookeeper, await dataFolder(file))).toEqual(kept);
});
