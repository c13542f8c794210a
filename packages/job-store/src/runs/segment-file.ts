/** Runs of a segment, read where they stand. */
import { type FileHandle, open } from "node:fs/promises";
import type { EndedRun } from "@sluice/job-queue";
import { parseRun } from "./line.ts";
import { RunIndex } from "./run-index.ts";

const NEWLINE = 10;
const WINDOW = 64 * 1024;
const SCAN_BYTES = 1024 * 1024;
/** No line of ours is longer: a result and data, each of 60 KB, escaped. */
const LINE_MOST = 4 * 1024 * 1024;

export interface ReadAt {
  readonly offset: number;
  readonly run: EndedRun;
}

/** In the order of the offsets. What cannot be read is told and left out; so is all of a file that has been purged. */
export async function readAt(
  path: string,
  offsets: readonly number[],
  onBad: (line: string) => void,
): Promise<readonly ReadAt[]> {
  if (offsets.length === 0) return [];
  return withReader(path, onBad, async (runAt) => {
    const found: ReadAt[] = [];
    for (const offset of offsets) {
      const run = await runAt(offset);
      if (run !== null) found.push({ offset, run });
    }
    return found;
  });
}

/** One after the other, wherever they stand; null: what stands there cannot be read. Nothing can of a file that has been purged. */
export async function withReader<T>(
  path: string,
  onBad: (line: string) => void,
  use: (runAt: (offset: number) => Promise<EndedRun | null>) => Promise<T>,
): Promise<T> {
  const handle = await open(path).catch(nullIfMissing);
  if (handle === null) return use(() => Promise.resolve(null));
  try {
    const window = new Window(handle);
    return await use(async (offset) => {
      const line = await window.lineAt(offset);
      const run = line === null ? null : parseRun(line);
      if (run === null && line !== null && !isBlank(line)) onBad(line);
      return run;
    });
  } finally {
    await handle.close();
  }
}

/** A run that was forgotten. */
export const isBlank = (line: string): boolean => line.trim() === "";

export function nullIfMissing(error: unknown): null {
  if (isMissing(error)) return null;
  throw error;
}

export const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";

/** Lines are asked for from the end to the beginning: what is read includes some before. */
class Window {
  readonly #handle: FileHandle;
  #start = 0;
  #bytes = Buffer.alloc(0);

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Null: it has no end. */
  async lineAt(offset: number): Promise<string | null> {
    const known = this.#line(offset);
    if (known !== null) return known;
    await this.#read(Math.max(0, offset + WINDOW / 8 - WINDOW), WINDOW);
    for (let length = WINDOW; length <= LINE_MOST; length *= 4) {
      const line = this.#line(offset);
      if (line !== null) return line;
      await this.#read(offset, length);
    }
    return this.#line(offset);
  }

  #line(offset: number): string | null {
    const from = offset - this.#start;
    if (from < 0 || from >= this.#bytes.length) return null;
    const end = this.#bytes.indexOf(NEWLINE, from);
    return end < 0 ? null : this.#bytes.toString("utf8", from, end);
  }

  async #read(start: number, length: number): Promise<void> {
    const bytes = Buffer.allocUnsafe(length);
    const { bytesRead } = await this.#handle.read(bytes, 0, length, start);
    this.#start = start;
    this.#bytes = bytes.subarray(0, bytesRead);
  }
}

const KEYS = ["tenant", "name", "ended"] as const;

/** Goes on from where the index ends. A last line without an end is left: somebody may be writing it. */
export async function scan(path: string, index: RunIndex, onBad: (line: string) => void): Promise<void> {
  const handle = await open(path).catch(nullIfMissing);
  if (handle === null) return;
  try {
    let length = SCAN_BYTES;
    for (;;) {
      const bytes = Buffer.allocUnsafe(length);
      const { bytesRead } = await handle.read(bytes, 0, length, index.bytes);
      const end = bytes.subarray(0, bytesRead).lastIndexOf(NEWLINE);
      if (end < 0 && bytesRead < length) return;
      // A line that is longer than what is read at once.
      if (end < 0) length *= 2;
      else addLines(index, bytes.subarray(0, end + 1), onBad);
      if (length > LINE_MOST) return;
    }
  } finally {
    await handle.close();
  }
}

function addLines(index: RunIndex, bytes: Buffer, onBad: (line: string) => void): void {
  const began = index.bytes;
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, from);
    const line = bytes.toString("utf8", from, end);
    const run = parseShort(line);
    if (run !== null) index.add(run, began + from);
    else if (!isBlank(line)) onBad(line);
    from = end + 1;
  }
  index.bytes = began + bytes.length;
}

/** What an index needs, without judging the rest. */
function parseShort(line: string): Parameters<RunIndex["add"]>[0] | null {
  const whole = /^\{"id":\d+,"token":"\d+\.\d+","done":/.test(line) ? parseJson(line) : null;
  if (typeof whole !== "object" || whole === null || !("id" in whole && "done" in whole)) return null;
  const { id, done } = whole;
  if (typeof id !== "number" || typeof done !== "object" || done === null) return null;
  const [tenant, name, ended] = KEYS.map((key): unknown => (key in done ? done[key as keyof typeof done] : undefined));
  if (typeof tenant !== "string" || typeof name !== "string" || typeof ended !== "number") return null;
  return { id, done: { tenant, name, ended } };
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
