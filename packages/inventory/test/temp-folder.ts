import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "@jest/globals";

/** In memory where the machine has such a place: the database flushes every commit, and these tests cut no power. */
const BASE = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

const made: string[] = [];

afterEach(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A folder of one test, removed after it. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(BASE, "sluice-inventory-"));
  made.push(folder);
  return folder;
}
