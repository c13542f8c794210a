/** Which segments a shard has, and where runs stand in each. */
import { readdir, rmdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { readIndex, writeIndex } from "./index-file.ts";
import { RunIndex, type RunPlaces } from "./run-index.ts";
import { isMissing, scan } from "./segment-file.ts";
import { indexPath, isDay, newestFirst, parseSegment, runsPath, type Segment } from "./segment-name.ts";

/** Days that nobody begins segments in any more are read again only when their folder has changed. */
interface Day {
  readonly changed: number;
  readonly segments: readonly Segment[];
}

/** Segments without an index file that are kept in memory: those of writers that died, or of other processes. */
const SCANNED_KEPT = 16;
/** Nobody writes to it any more. */
export const LEFT_ALONE_MS = 3_600_000;

export class Catalogue {
  readonly #folder: string;
  readonly #onBad: (path: string, line: string) => void;
  readonly #days = new Map<string, Day>();
  readonly #indexes = new Map<string, RunPlaces>();
  readonly #scanned = new Map<string, RunIndex>();

  constructor(folder: string, onBad: (path: string, line: string) => void) {
    this.#folder = folder;
    this.#onBad = onBad;
  }

  /** Newest first. */
  async segments(): Promise<readonly Segment[]> {
    const days = (await namesIn(this.#folder)).filter(isDay).sort().reverse();
    for (const known of [...this.#days.keys()]) if (!days.includes(known)) this.#days.delete(known);
    const found: Segment[] = [];
    // The newest is where segments come to be.
    for (const [n, day] of days.entries()) for (const each of await this.#segmentsOf(day, n === 0)) found.push(each);
    return found.sort(newestFirst);
  }

  async #segmentsOf(day: string, isNewest: boolean): Promise<readonly Segment[]> {
    const folder = join(this.#folder, day);
    const changed = (await stat(folder).catch(() => null))?.mtimeMs ?? 0;
    const known = this.#days.get(day);
    if (!isNewest && known?.changed === changed) return known.segments;
    const segments = (await namesIn(folder)).flatMap((name) => parseSegment(day, name) ?? []);
    this.#days.set(day, { changed, segments });
    return segments;
  }

  /** Null: it has been purged. */
  async places(segment: Segment): Promise<RunPlaces | null> {
    const path = indexPath(this.#folder, segment);
    const known = this.#indexes.get(path);
    if (known !== undefined) return known;
    const sealed = await readIndex(path);
    if (sealed === null) return this.#scan(segment);
    this.#indexes.set(path, sealed);
    this.#scanned.delete(path);
    return sealed;
  }

  /** Its writer is another process, or died: read from where it was read to the last time. */
  async #scan(segment: Segment): Promise<RunPlaces> {
    const path = indexPath(this.#folder, segment);
    const index = this.#scanned.get(path) ?? new RunIndex();
    this.#scanned.delete(path);
    this.#scanned.set(path, index);
    const runs = runsPath(this.#folder, segment);
    await scan(runs, index, (line) => this.#onBad(runs, line));
    for (const [old] of this.#scanned) if (this.#scanned.size > SCANNED_KEPT) this.#scanned.delete(old);
    return index;
  }

  /** Gives an index to what its writer left without one. */
  async tidy(nowMs: number, isOpen: (segment: Segment) => boolean): Promise<void> {
    for (const segment of await this.segments()) {
      if (isOpen(segment) || this.#indexes.has(indexPath(this.#folder, segment))) continue;
      if ((await readIndex(indexPath(this.#folder, segment))) !== null) continue;
      const written = await lastWriteOf(runsPath(this.#folder, segment));
      if (written === null || written > nowMs - LEFT_ALONE_MS) continue;
      const index = new RunIndex();
      const runs = runsPath(this.#folder, segment);
      await scan(runs, index, (line) => this.#onBad(runs, line));
      await writeIndex(indexPath(this.#folder, segment), index);
    }
  }

  /** Removes what was last written to before this moment. Answers how many segments went. */
  async purge(before: number, isOpen: (segment: Segment) => boolean): Promise<number> {
    let gone = 0;
    for (const segment of await this.segments()) {
      const written = await lastWriteOf(runsPath(this.#folder, segment));
      if (isOpen(segment) || written === null || written > before) continue;
      const path = indexPath(this.#folder, segment);
      await unlink(path).catch(() => undefined);
      // Of one who died while writing it.
      await unlink(`${path}.tmp`).catch(() => undefined);
      await unlink(runsPath(this.#folder, segment)).catch(() => undefined);
      this.#indexes.delete(path);
      this.#scanned.delete(path);
      await rmdir(join(this.#folder, segment.day)).catch(() => undefined);
      gone += 1;
    }
    return gone;
  }
}

/** None where there is no folder yet. */
async function namesIn(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
}

/** Null for one that is gone. */
const lastWriteOf = (path: string): Promise<number | null> =>
  stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
