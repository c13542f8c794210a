/**
 * The files of the archive: the runs of a block of ids, a line each. Every process writes files of its own, so that two
 * owners of a shard, one of which does not know yet that it is none, never write into the same one.
 */
import { type FileHandle, lstat, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { blockOf, type EndedRun, parseJobId, records } from "@sluice/job-queue";
import { makeFolder, syncFolder } from "@sluice/journal";

/** A file that is larger is followed by the next: runs of a job that repeats for years are purged piece by piece. */
export const FILE_BYTES = 4 * 1024 * 1024;
const FILE_MODE = 0o640;
const NEWLINE = 10;

export interface ArchiveFile {
  readonly name: string;
  readonly block: number;
  readonly writer: string;
  readonly part: number;
}

export const shardFolder = (root: string, shard: number): string => join(root, String(shard).padStart(2, "0"));
export const isWriter = (name: string): boolean => /^[\w-]{1,100}$/.test(name);
const fileName = (block: number, writer: string, part: number): string => `${block}.${writer}.${part}.jsonl`;

function parseFileName(name: string): ArchiveFile | null {
  const [, block, writer, part] = /^(\d{1,13})\.([\w-]+)\.(\d{1,9})\.jsonl$/.exec(name) ?? [];
  if (block === undefined || writer === undefined || part === undefined) return null;
  return { name, block: Number(block), writer, part: Number(part) };
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

export const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";

/** Each run once: what was handed over twice stands there twice. Lines that cannot be read are told and left out. */
export async function readRuns(path: string, onBad: (line: string) => void): Promise<readonly EndedRun[]> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    // Purged since it was listed.
    if (isMissing(error)) return "";
    throw error;
  });
  const lines = text.split("\n").filter((line) => line !== "");
  return lines.flatMap((line) => {
    const run = parseRun(line);
    if (run === null) onBad(line);
    return run ?? [];
  });
}

const printRun = ({ id, token, done }: EndedRun): string =>
  `{"id":${id},"token":${JSON.stringify(token)},"done":${records.done.encode(done).toString("utf8")}}\n`;

function parseRun(line: string): EndedRun | null {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch {
    return null;
  }
  if (typeof raw !== "object" || raw === null || !("id" in raw && "token" in raw && "done" in raw)) return null;
  const id = parseJobId(String(raw.id));
  const done = records.done.decode(Buffer.from(JSON.stringify(raw.done)));
  return id === null || typeof raw.token !== "string" || !done.ok ? null : { id, token: raw.token, done: done.value };
}

/** Appends to the writer's newest file of each block; everything is on disk when it returns. */
export async function appendRuns(
  folder: string,
  writer: string,
  runs: readonly EndedRun[],
  fileBytes: number,
): Promise<void> {
  await makeFolder(folder);
  const files = (await listFiles(folder)).filter((file) => file.writer === writer);
  let isNew = false;
  for (const [block, some] of byBlock(runs)) {
    const part = files.reduce((most, file) => (file.block === block ? Math.max(most, file.part) : most), 0);
    isNew = (await appendTo(folder, { block, writer, part }, some.map(printRun).join(""), fileBytes)) || isNew;
  }
  if (isNew) await syncFolder(folder);
}

function byBlock(runs: readonly EndedRun[]): ReadonlyMap<number, readonly EndedRun[]> {
  const blocks = new Map<number, EndedRun[]>();
  for (const run of runs) {
    const block = blocks.get(blockOf(run.id));
    if (block === undefined) blocks.set(blockOf(run.id), [run]);
    else block.push(run);
  }
  return blocks;
}

/** Answers whether the folder has a new file. */
async function appendTo(
  folder: string,
  { block, writer, part }: Omit<ArchiveFile, "name">,
  lines: string,
  fileBytes: number,
): Promise<boolean> {
  const handle = await open(join(folder, fileName(block, writer, part)), "a+", FILE_MODE);
  try {
    const { size } = await handle.stat();
    if (size < fileBytes) {
      await handle.appendFile((await endsTorn(handle, size)) ? `\n${lines}` : lines);
      await handle.sync();
      return size === 0;
    }
  } finally {
    await handle.close();
  }
  return appendTo(folder, { block, writer, part: part + 1 }, lines, fileBytes);
}

/** A line that a dead process left half written is ended: it is one bad line, and does not spoil the next. */
async function endsTorn(handle: FileHandle, size: number): Promise<boolean> {
  if (size === 0) return false;
  const last = Buffer.alloc(1);
  await handle.read(last, 0, 1, size - 1);
  return last[0] !== NEWLINE;
}

/** Null for one that is gone. */
export const lastWriteOf = (path: string): Promise<number | null> =>
  lstat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
