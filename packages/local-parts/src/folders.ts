/**
 * Folders of parts that live as long as the process that started them. Their names hold its pid, so that a later one can
 * remove what a killed process left behind: in /dev/shm that would be memory.
 */
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "./process-table.ts";

const NAME = /^sluice-part-[a-z]+-(?<pid>\d+)-/u;
const PLACES = ["/dev/shm", tmpdir()];

export interface FolderOptions {
  /** In memory where the machine has such a place: quick, and gone with the machine. */
  readonly inMemory?: boolean;
}

export async function partFolder(part: string, { inMemory = false }: FolderOptions = {}): Promise<string> {
  await removeLeftOvers();
  const place = inMemory && existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  return await mkdtemp(join(place, `sluice-part-${part}-${process.pid}-`));
}

/** Of processes that are no more. */
export async function removeLeftOvers(places: readonly string[] = PLACES): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const place of places) {
    for (const name of await readdir(place).catch(() => [])) {
      const pid = NAME.exec(name)?.groups?.["pid"];
      if (pid === undefined || isAlive(Number(pid))) continue;
      const folder = join(place, name);
      // Two may sweep at once, and a server may still be ending: whatever resists now goes with the next sweep.
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
      removed.push(folder);
    }
  }
  return removed;
}
