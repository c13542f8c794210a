/** The runs of one shard, in segments: appended by this process, read by all. */
import { open } from "node:fs/promises";
import type { EndedRun } from "@sluice/job-queue";
import { blankRuns } from "./blank.ts";
import { Catalogue } from "./catalogue.ts";
import { keptAlready } from "./kept-already.ts";
import { keyOf, type RunPlaces } from "./run-index.ts";
import { nullIfMissing, readAt, type ReadAt, withReader } from "./segment-file.ts";
import { isSame, newestFirst, type Place, runsPath, type Segment } from "./segment-name.ts";
import { SegmentWriter, type WriterPorts } from "./segment-writer.ts";

/** Segments that one page looks into; it is short then, and leads on. */
const SEGMENTS_PER_PAGE = 200;
/** Behind the end of every segment. */
const OFFSET_MOST = 999_999_999_999;

export interface SegmentsPorts extends WriterPorts {
  readonly onBad: (path: string, line: string) => void;
}

export interface Asked {
  readonly tenant: string;
  /** Only these types. */
  readonly names: readonly string[] | null;
  readonly limit: number;
}

export interface Found extends Place {
  readonly run: EndedRun;
}

export class Segments {
  readonly #ports: SegmentsPorts;
  readonly #writer: SegmentWriter;
  readonly #catalogue: Catalogue;
  /** One after the other: where a run stands follows from what is before it. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(ports: SegmentsPorts) {
    this.#ports = ports;
    this.#writer = new SegmentWriter(ports);
    this.#catalogue = new Catalogue(ports.folder, ports.onBad);
  }

  keep(runs: readonly EndedRun[], mayBeThere: boolean): Promise<void> {
    const kept = this.#writing.then(async () => this.#writer.append(mayBeThere ? await this.#missing(runs) : runs));
    this.#writing = kept.catch(() => undefined);
    return kept;
  }

  /** Answers the files in which runs of these jobs stood. */
  forget(ids: ReadonlySet<number>): Promise<readonly string[]> {
    const forgotten = this.#writing.then(() => this.#forget(ids));
    this.#writing = forgotten.catch(() => undefined);
    return forgotten;
  }

  async #forget(ids: ReadonlySet<number>): Promise<readonly string[]> {
    const changed: string[] = [];
    for (const segment of await this.#catalogue.segments()) {
      const places = await this.#places(segment);
      if (places === null || places.facts.count === 0) continue;
      const { minId, maxId } = places.facts;
      const offsets: number[] = [];
      for (const id of ids)
        if (id >= minId && id <= maxId) for (const offset of await places.ofJob(id, Infinity)) offsets.push(offset);
      const path = runsPath(this.#ports.folder, segment);
      if (await blankRuns(path, offsets, ids)) changed.push(path);
    }
    return changed;
  }

  /** Of one job, newest first. */
  async runsOf(id: number, most: number): Promise<readonly EndedRun[]> {
    const found = new Map<string, EndedRun>();
    let since = -Infinity;
    for (const segment of await this.#catalogue.segments()) {
      const places = await this.#places(segment);
      if (places === null || places.facts.count === 0) continue;
      if (found.size >= most) break;
      // Nothing of it ended before it was made.
      if (places.facts.maxEnded < since || id < places.facts.minId || id > places.facts.maxId) continue;
      const offsets = await places.ofJob(id, most);
      for (const { run } of await this.#read(segment, offsets)) {
        if (run.id !== id) continue;
        since = run.done.created;
        if (!found.has(run.token)) found.set(run.token, run);
      }
    }
    return [...found.values()].slice(0, most);
  }

  /** After a place, or from the newest on. */
  async page(
    after: Place | null,
    { tenant, names, limit }: Asked,
  ): Promise<{ readonly found: readonly Found[]; readonly next: Place | null }> {
    const key = keyOf(tenant, names);
    const found: Found[] = [];
    let room = limit;
    const all = await this.#catalogue.segments();
    const rest = after === null ? all : all.filter((segment) => newestFirst(after.segment, segment) <= 0);
    for (const [n, segment] of rest.entries()) {
      if (n === SEGMENTS_PER_PAGE) return { found, next: { segment, offset: OFFSET_MOST } };
      const places = await this.#places(segment);
      const before = after !== null && isSame(segment, after.segment) ? after.offset : OFFSET_MOST;
      const offsets = (await places?.before(before, key, room)) ?? [];
      for (const { run, offset } of await this.#read(segment, offsets))
        // Types are found by a hash, which two may share.
        if (run.done.tenant === tenant && (names?.includes(run.done.name) ?? true))
          found.push({ segment, offset, run });
      room -= offsets.length;
      const last = offsets.at(-1);
      if (room <= 0 && last !== undefined) return { found, next: { segment, offset: last } };
    }
    return { found, next: null };
  }

  /** Where the next run will stand: what is kept from now on is behind it. */
  head(): Place {
    const { current } = this.#writer;
    if (current !== null) return { segment: current.segment, offset: current.index.bytes };
    const { nowMs, writer } = this.#ports;
    return { segment: { day: "1970-01-01", start: nowMs(), writer }, offset: 0 };
  }

  async tidy(): Promise<void> {
    await this.#catalogue.tidy(this.#ports.nowMs(), (segment) => this.#isOpen(segment));
  }

  async purge(before: number): Promise<number> {
    return this.#catalogue.purge(before, (segment) => this.#isOpen(segment));
  }

  /** The files of all runs. */
  async paths(): Promise<readonly string[]> {
    return (await this.#catalogue.segments()).map((segment) => runsPath(this.#ports.folder, segment));
  }

  #isOpen(segment: Segment): boolean {
    const { current } = this.#writer;
    return current !== null && isSame(current.segment, segment);
  }

  async #places(segment: Segment): Promise<RunPlaces | null> {
    const { current } = this.#writer;
    return current !== null && isSame(current.segment, segment) ? current.index : this.#catalogue.places(segment);
  }

  #read(segment: Segment, offsets: readonly number[]): Promise<readonly ReadAt[]> {
    const path = runsPath(this.#ports.folder, segment);
    return readAt(path, offsets, (line) => this.#ports.onBad(path, line));
  }

  /** What a dead owner kept and had not yet deleted from the tree. It may not have been synced. */
  async #missing(runs: readonly EndedRun[]): Promise<readonly EndedRun[]> {
    const there = new Set<EndedRun>();
    for (const segment of await this.#catalogue.segments()) {
      const places = await this.#places(segment);
      if (places === null || places.facts.count === 0) continue;
      const missing = runs.filter((run) => !there.has(run));
      if (missing.length === 0) break;
      const path = runsPath(this.#ports.folder, segment);
      const kept = await withReader(
        path,
        (line) => this.#ports.onBad(path, line),
        (runAt) => keptAlready(places, missing, runAt),
      );
      for (const run of kept) there.add(run);
      if (kept.length > 0) await sync(path);
    }
    return runs.filter((run) => !there.has(run));
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, "r+").catch(nullIfMissing);
  if (handle === null) return;
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
