/** What a journal's folder holds when it is opened: read whole, cut where a write was torn, never mended in silence. */
import { link, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { hasCode } from "./error.ts";
import { listSegments, makeFolder, openFile, removeFiles, type SegmentFile, syncFolder } from "./folder.ts";
import { type Range, scanSegment } from "./scan.ts";
import type { OpenReport } from "./types.ts";

export interface Segment {
  readonly name: string;
  readonly handle: FileHandle;
  /** Of the newest record that was ever in it. */
  last: number;
  bytes: number;
}

/** A record that waits, and where it is. */
export interface Entry {
  readonly number: number;
  readonly atMs: number;
  readonly segment: Segment;
  readonly offset: number;
  readonly bytes: number;
}

export interface Recovered {
  readonly segments: readonly Segment[];
  readonly entries: readonly Entry[];
  /** May be written to; null = begin a new one. */
  readonly active: Segment | null;
  readonly report: OpenReport;
}

const QUARANTINE = "quarantine";

export async function recover(folder: string, consumed: number): Promise<Recovered> {
  const files = await removeConsumed(folder, consumed);
  const found = { segments: [] as Segment[], entries: [] as Entry[], damaged: [] as OpenReport["damaged"][number][] };
  let cut: OpenReport["cut"] = null;
  let active: Segment | null = null;
  for (const [i, { name, first }] of files.entries()) {
    const isLast = i === files.length - 1;
    const { segment, entries, damaged, torn } = await readSegment(folder, name, first, isLast);
    found.segments.push(segment);
    for (const entry of entries) if (entry.number > consumed) found.entries.push(entry);
    for (const range of damaged) found.damaged.push({ segment: name, ...range });
    if (torn !== null) cut = { segment: name, ...torn };
    if (isLast && damaged.length === 0 && segment.last >= consumed) active = segment;
  }
  const { segments, entries, damaged } = found;
  return { segments, entries, active, report: { cut, damaged, missing: missingIn(entries, consumed) } };
}

/** A segment is consumed when the next one begins no later than what comes after the consumed. */
async function removeConsumed(folder: string, consumed: number): Promise<readonly SegmentFile[]> {
  const all = await listSegments(folder);
  const isConsumed = (_: unknown, i: number): boolean => (all[i + 1]?.first ?? Infinity) <= consumed + 1;
  await removeFiles(
    folder,
    all.filter(isConsumed).map(({ name }) => name),
  );
  return all.filter((file, i) => !isConsumed(file, i));
}

async function readSegment(folder: string, name: string, first: number, isLast: boolean) {
  const handle = await openFile(folder, name);
  const bytes = await handle.readFile();
  const { frames, damaged, tornAt } = scanSegment(bytes, isLast);
  const segment: Segment = { name, handle, last: frames.at(-1)?.number ?? first - 1, bytes: tornAt ?? bytes.length };
  if (tornAt !== null) {
    await handle.truncate(tornAt);
    await handle.sync();
  }
  if (damaged.length > 0) await keepDamaged(folder, name);
  const entries = frames.map(({ number, atMs, offset, end }): Entry => ({
    number,
    atMs,
    segment,
    offset,
    bytes: end - offset,
  }));
  const torn: Range | null = tornAt === null ? null : { offset: tornAt, bytes: bytes.length - tornAt };
  return { segment, entries, damaged, torn };
}

/** The segment goes when its last record is consumed; its damaged bytes stay for whoever wants to look. */
export async function keepDamaged(folder: string, name: string): Promise<void> {
  const quarantine = join(folder, QUARANTINE);
  await makeFolder(quarantine);
  await link(join(folder, name), join(quarantine, name)).catch((error: unknown) => {
    if (!hasCode(error, "EEXIST")) throw error;
  });
  await syncFolder(quarantine);
}

function missingIn(entries: readonly Entry[], consumed: number): OpenReport["missing"] {
  const missing: { first: number; last: number }[] = [];
  let expected = consumed + 1;
  for (const { number } of entries) {
    if (number > expected) missing.push({ first: expected, last: number - 1 });
    expected = number + 1;
  }
  return missing;
}
