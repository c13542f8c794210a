/** Files of the archive as earlier versions wrote them: the runs of a block of ids, a line each. They are read until they are purged. */
import { lstat, readdir, readFile } from "node:fs/promises";
import type { EndedRun } from "@sluice/job-queue";
import { parseRun } from "./runs/line.ts";
import { isBlank, isMissing } from "./runs/segment-file.ts";

export interface ArchiveFile {
  readonly name: string;
  readonly block: number;
}

function parseFileName(name: string): ArchiveFile | null {
  const [, block] = /^(\d{1,13})\.[\w-]+\.\d{1,9}\.jsonl$/.exec(name) ?? [];
  return block === undefined ? null : { name, block: Number(block) };
}

/** None where there is no folder yet. */
export async function listFiles(folder: string): Promise<readonly ArchiveFile[]> {
  const names = await readdir(folder).catch(emptyIfMissing);
  return names.flatMap((name) => parseFileName(name) ?? []);
}

function emptyIfMissing(error: unknown): readonly string[] {
  if (isMissing(error)) return [];
  throw error;
}

/** Lines that cannot be read are told and left out. */
export async function readRuns(path: string, onBad: (line: string) => void): Promise<readonly EndedRun[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    // Purged since it was listed.
    if (isMissing(error)) return "";
    throw error;
  });
  const lines = text.split("\n").filter((line) => !isBlank(line));
  return lines.flatMap((line) => {
    const run = parseRun(line);
    if (run === null) onBad(line);
    return run ?? [];
  });
}

/** Null for one that is gone. */
export const lastWriteOf = (path: string): Promise<number | null> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
