/**
 * The index of a segment that is complete, as a file beside it: numbers of 8 bytes, sorted, searched where they stand. First
 * pairs of job and offset, then tenants, then types, each of the latter two as hash · 2^28 + offset.
 */
import { type FileHandle, open } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { replaceFile } from "@sluice/journal";
import { isMissing } from "./segment-file.ts";
import type { Key, RunIndex, RunPlaces, SegmentFacts } from "./run-index.ts";

/** Offsets are below. */
export const SEGMENT_BYTES_MOST = 2 ** 28;
const NUMBER = 8;
const MAGIC = 0x53_4c_52_31;
const HEADER = 6;
/** Numbers read at once while searching. */
const STEP = 512;

export async function writeIndex(path: string, index: RunIndex): Promise<void> {
  const { count, bytes, minId, maxId, maxEnded } = index.facts;
  const numbers = new Float64Array(HEADER + 4 * count);
  numbers.set([MAGIC, count, bytes, minId, maxId, maxEnded]);
  // Nearly sorted already: ids grow.
  const byJob = Array.from({ length: count }, (_, n) => n).sort(
    (a, b) => numberAt(index.ids, a) - numberAt(index.ids, b) || a - b,
  );
  byJob.forEach((n, at) => numbers.set([numberAt(index.ids, n), numberAt(index.offsets, n)], HEADER + 2 * at));
  [index.tenants, index.types].forEach((hashes, part) => {
    const from = HEADER + (2 + part) * count;
    const places = numbers.subarray(from, from + count);
    for (let n = 0; n < count; n++) places[n] = numberAt(hashes, n) * SEGMENT_BYTES_MOST + numberAt(index.offsets, n);
    places.sort();
  });
  // A purge, or another process, may write the same index just now, under the same name until it is whole.
  await replaceFile(dirname(path), basename(path), new Uint8Array(numbers.buffer)).catch(unlessMissing);
}

function unlessMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}

const numberAt = (numbers: readonly number[], n: number): number => numbers[n] ?? 0;

/** Null: there is none, or none that can be used. */
export async function readIndex(path: string): Promise<IndexFile | null> {
  const handle = await open(path).catch(() => null);
  if (handle === null) return null;
  try {
    const { size } = await handle.stat();
    const [magic, count = 0, bytes = 0, minId = 0, maxId = 0, maxEnded = 0] = await numbersAt(handle, 0, HEADER);
    if (magic !== MAGIC || size !== NUMBER * (HEADER + 4 * count)) return null;
    return new IndexFile(path, { count, bytes, minId, maxId, maxEnded });
  } finally {
    await handle.close();
  }
}

async function numbersAt(handle: FileHandle, from: number, count: number): Promise<Float64Array> {
  const numbers = new Float64Array(count);
  const { bytesRead } = await handle.read(new Uint8Array(numbers.buffer), 0, count * NUMBER, from * NUMBER);
  return numbers.subarray(0, Math.floor(bytesRead / NUMBER));
}

/** A sorted part of the file, of records of so many numbers; the first of each is what it is sorted by. */
interface Part {
  readonly from: number;
  readonly count: number;
  readonly width: number;
}

export class IndexFile implements RunPlaces {
  readonly facts: SegmentFacts;
  readonly #path: string;

  constructor(path: string, facts: SegmentFacts) {
    this.#path = path;
    this.facts = facts;
  }

  ofJob(id: number, most: number): Promise<readonly number[]> {
    const part = { from: HEADER, count: this.facts.count, width: 2 };
    return this.#open(async (handle) => {
      const records = await lastBefore(handle, part, { below: id + 1, from: id, most });
      return records.map(([, offset = 0]) => offset);
    });
  }

  before(offset: number, key: Key, most: number): Promise<readonly number[]> {
    const { count } = this.facts;
    const isTenant = key.kind === "tenant";
    const part = { from: HEADER + (isTenant ? 2 : 3) * count, count, width: 1 };
    return this.#open(async (handle) => {
      const found: number[] = [];
      for (const hash of isTenant ? [key.hash] : key.hashes) {
        const from = hash * SEGMENT_BYTES_MOST;
        const below = from + Math.min(offset, SEGMENT_BYTES_MOST);
        for (const [place = 0] of await lastBefore(handle, part, { below, from, most })) found.push(place - from);
      }
      return found.sort((a, b) => b - a).slice(0, most);
    });
  }

  async #open<T>(use: (handle: FileHandle) => Promise<T>): Promise<T> {
    const handle = await open(this.#path);
    try {
      return await use(handle);
    } finally {
      await handle.close();
    }
  }
}

/** Records from `from` up to `below`, the last ones first. */
async function lastBefore(
  handle: FileHandle,
  { from: start, count, width }: Part,
  { below, from, most }: { readonly below: number; readonly from: number; readonly most: number },
): Promise<readonly (readonly number[])[]> {
  const read = async (first: number, records: number): Promise<readonly (readonly number[])[]> => {
    const numbers = await numbersAt(handle, start + first * width, records * width);
    return Array.from({ length: Math.floor(numbers.length / width) }, (_, n) => [
      ...numbers.subarray(n * width, (n + 1) * width),
    ]);
  };
  let [low, high] = [0, count];
  while (high - low > STEP) {
    const middle = Math.floor((low + high) / 2);
    const [[first = 0] = []] = await read(middle, 1);
    if (first < below) low = middle;
    else high = middle;
  }
  const found: (readonly number[])[] = [];
  for (let first = low; ;) {
    const records = await read(first, high - first);
    for (const record of [...records].reverse()) {
      const [value = 0] = record;
      if (value < from || found.length === most) return found;
      if (value < below) found.push(record);
    }
    if (first === 0) return found;
    high = first;
    first = Math.max(0, first - STEP);
  }
}
