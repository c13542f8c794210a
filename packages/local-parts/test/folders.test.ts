import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { spawnSync } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { partFolder, removeLeftOvers } from "../src/folders.ts";
import { startAsProcess } from "../src/mariadb/process.ts";
import { startPrometheus } from "../src/index.ts";

let place: string;
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), "sluice-left-overs-"));
});
afterAll(() => rm(place, { recursive: true }));

const foldersOf = async (part: string): Promise<readonly string[]> => {
  const all = await Promise.all(["/dev/shm", tmpdir()].map((folder) => readdir(folder).catch(() => [])));
  return all.flat().filter((name) => name.startsWith(`sluice-part-${part}-${process.pid}-`));
};

test("what a process left behind that is no more is removed, and nothing else", async () => {
  const gone = spawnSync(process.execPath, ["-e", ""]).pid;
  for (const name of [`sluice-part-mariadb-${gone}-a`, `sluice-part-mariadb-${process.pid}-b`, `other-${gone}-c`]) {
    await mkdir(join(place, name, "data"), { recursive: true });
  }

  expect(await removeLeftOvers([place])).toEqual([join(place, `sluice-part-mariadb-${gone}-a`)]);
  expect((await readdir(place)).sort()).toEqual([`other-${gone}-c`, `sluice-part-mariadb-${process.pid}-b`]);
});

test("a folder in memory stands in memory where the machine has it", async () => {
  const folder = await partFolder("example", { inMemory: true });

  expect(await foldersOf("example")).toHaveLength(1);
  await rm(folder, { recursive: true });
});

test("a MariaDB that cannot be made leaves no folder", async () => {
  const before = { ...process.env };
  process.env["MARIADB_INSTALL_DB"] = "/bin/false";
  try {
    const started = startAsProcess({ log: () => undefined, apt: true });

    await expect(started).rejects.toThrow("mariadb-install-db");
    expect(await foldersOf("mariadb")).toEqual([]);
  } finally {
    process.env = before;
  }
});

test("a Prometheus that ends at its start leaves no folder, and its last words are told", async () => {
  await expect(startPrometheus("/bin/sh", "/nonexistent")).rejects.toThrow("Prometheus ended at its start");
  expect(await foldersOf("prometheus")).toEqual([]);
});
