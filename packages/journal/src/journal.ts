/**
 * An append-only journal in a folder of its own. A record is on disk when `append` answers, records are read in the order
 * in which they were appended, and what has been consumed stays consumed. Appends that come together share one write and
 * one sync.
 */
import type { FileHandle } from "node:fs/promises";
import { messageOf } from "./error.ts";
import { createFile, makeFolder, removeFiles, segmentName, writeAll } from "./folder.ts";
import { decodeFrame, encodeGroup, frameBytes, HEADER_BYTES, type NewRecord } from "./frame.ts";
import { type Ownership, takeOwnership } from "./owner.ts";
import { Position } from "./position.ts";
import { type Entry, keepDamaged, recover, type Recovered, type Segment } from "./recover.ts";
import type { Appended, Failpoint, JournalOptions, JournalStats, OpenReport, ReadRecord } from "./types.ts";

export type OpenedJournal =
  | { readonly ok: true; readonly journal: Journal; readonly report: OpenReport }
  /** Another process has it, or it cannot be read. */
  | { readonly ok: false; readonly problem: string };

export async function openJournal(options: JournalOptions): Promise<OpenedJournal> {
  let owner: Ownership | string;
  try {
    await makeFolder(options.folder);
    owner = await takeOwnership(options.folder);
  } catch (error) {
    return { ok: false, problem: `the journal ${options.folder} cannot be opened: ${messageOf(error)}` };
  }
  if (typeof owner === "string") return { ok: false, problem: owner };
  try {
    const position = await Position.open(options.folder);
    const recovered = await recover(options.folder, position.number);
    return { ok: true, journal: new Journal(options, owner, position, recovered), report: recovered.report };
  } catch (error) {
    await owner.release();
    return { ok: false, problem: `the journal ${options.folder} cannot be read: ${messageOf(error)}` };
  }
}

interface Waiting {
  readonly data: Uint8Array;
  readonly atMs: number;
  readonly resolve: (answer: Appended) => void;
}

export class Journal {
  readonly #options: JournalOptions;
  readonly #owner: Ownership;
  readonly #position: Position;
  /** Oldest first; the last one is written to. */
  readonly #segments: Segment[];
  /** What waits, oldest first. */
  readonly #entries: Map<number, Entry>;
  #active: Segment | null;
  #next: number;
  /** Of what waits, and of what is on its way to disk. */
  #records: number;
  #bytes: number;
  #queue: Waiting[] = [];
  #flushing: Promise<void> | null = null;
  #consuming: Promise<void> = Promise.resolve();
  #turnedAway = false;
  #broken: string | null = null;

  constructor(options: JournalOptions, owner: Ownership, position: Position, recovered: Recovered) {
    this.#options = options;
    this.#owner = owner;
    this.#position = position;
    this.#segments = [...recovered.segments];
    this.#entries = new Map(recovered.entries.map((entry) => [entry.number, entry]));
    this.#active = recovered.active;
    this.#next = recovered.segments.reduce((most, { last }) => Math.max(most, last), position.number) + 1;
    this.#records = recovered.entries.length;
    this.#bytes = recovered.entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  append(data: Uint8Array): Promise<Appended> {
    if (this.#broken !== null) return Promise.resolve({ kind: "failed", why: this.#broken });
    const bytes = frameBytes(data);
    if (!this.#fits(bytes)) {
      this.#turnedAway = true;
      return Promise.resolve({ kind: "full" });
    }
    this.#records += 1;
    this.#bytes += bytes;
    return new Promise((resolve) => {
      this.#queue.push({ data, atMs: this.#options.clock.nowMs(), resolve });
      this.#flushing ??= this.#flush();
    });
  }

  /** The oldest record that has not been consumed. */
  async peek(): Promise<ReadRecord> {
    const [first] = this.#entries.keys();
    return first === undefined ? { kind: "none" } : this.read(first);
  }

  /** Numbers of all that waits, oldest first. */
  waiting(): readonly number[] {
    return [...this.#entries.keys()];
  }

  async read(number: number): Promise<ReadRecord> {
    const entry = this.#entries.get(number);
    if (entry === undefined) return { kind: "none" };
    const { segment, offset, atMs } = entry;
    const bytes = Buffer.alloc(entry.bytes);
    await segment.handle.read(bytes, 0, bytes.length, offset);
    const frame = decodeFrame(bytes, 0);
    if (frame?.number === number) return { kind: "record", number, atMs, data: frame.data };
    await keepDamaged(this.#options.folder, segment.name);
    return { kind: "damaged", number, why: `${segment.name} has changed at ${offset}` };
  }

  /** All records up to this one are done with: durable when it returns. Segments without anything else are removed. */
  consume(number: number): Promise<void> {
    const done = this.#consuming.then(() => this.#consume(number));
    this.#consuming = done.catch(() => undefined);
    return done;
  }

  stats(): JournalStats {
    const [oldest] = this.#entries.values();
    return {
      records: this.#records,
      bytes: this.#bytes,
      segments: this.#segments.length,
      usedRatio: Math.max(this.#records / this.#options.maxRecords, this.#bytes / this.#options.maxBytes),
      oldestAgeMs: oldest === undefined ? null : Math.max(0, this.#options.clock.nowMs() - oldest.atMs),
      full: this.#turnedAway || !this.#fits(HEADER_BYTES),
      broken: this.#broken,
    };
  }

  /** Takes nothing more, waits for what is on its way, and lets go of the folder. */
  async close(): Promise<void> {
    this.#broken ??= "the journal is closed";
    await this.#flushing;
    await this.#consuming;
    await Promise.all(this.#segments.map(({ handle }) => handle.close()));
    await this.#position.close();
    await this.#owner.release();
  }

  #fits(bytes: number): boolean {
    return this.#records < this.#options.maxRecords && this.#bytes + bytes <= this.#options.maxBytes;
  }

  async #flush(): Promise<void> {
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0);
      try {
        const first = await this.#writeGroup(group);
        group.forEach(({ resolve }, i) => resolve({ kind: "appended", number: first + i }));
      } catch (error) {
        const why = messageOf(error);
        for (const { data, resolve } of group) {
          this.#records -= 1;
          this.#bytes -= frameBytes(data);
          resolve({ kind: "failed", why });
        }
      }
    }
    // Here and not in a `finally`: whoever was just answered may append before that would run.
    this.#flushing = null;
  }

  /** Answers the number of the first. */
  async #writeGroup(group: readonly Waiting[]): Promise<number> {
    const first = this.#next;
    const records = group.map(({ data, atMs }, i): NewRecord => ({ number: first + i, atMs, data }));
    const segment = await this.#segmentFor(first);
    const start = segment.bytes;
    await this.#write(segment, encodeGroup(records, start));
    let offset = start;
    for (const { number, atMs, data } of records) {
      const bytes = frameBytes(data);
      this.#entries.set(number, { number, atMs, segment, offset, bytes });
      offset += bytes;
    }
    segment.bytes = offset;
    segment.last = first + records.length - 1;
    this.#next = segment.last + 1;
    return first;
  }

  async #segmentFor(first: number): Promise<Segment> {
    if (this.#active !== null && this.#active.bytes < this.#options.segmentBytes) return this.#active;
    const name = segmentName(first);
    const segment = { name, handle: await createFile(this.#options.folder, name), last: first - 1, bytes: 0 };
    this.#segments.push(segment);
    this.#active = segment;
    await this.#failpoint("journalAfterRotate");
    return segment;
  }

  async #write({ handle, bytes: start }: Segment, bytes: Buffer): Promise<void> {
    try {
      await writeAll(handle, bytes, start);
      await this.#failpoint("journalAfterWrite");
      await this.#sync(handle);
      await this.#failpoint("journalAfterSync");
    } catch (error) {
      // A full disk, perhaps: what was written of it goes, and the next one may fit.
      if (this.#broken === null) await handle.truncate(start).catch((again: unknown) => this.#break(again));
      throw error;
    }
  }

  async #sync(handle: FileHandle): Promise<void> {
    try {
      await handle.datasync();
    } catch (error) {
      // The kernel tells of a failed sync once, and may have thrown the data away: nothing here can be believed any more.
      this.#break(error);
      throw error;
    }
  }

  #break(error: unknown): void {
    this.#broken ??= `the journal cannot be written until it is opened again: ${messageOf(error)}`;
  }

  async #consume(upTo: number): Promise<void> {
    if (upTo <= this.#position.number) return;
    await this.#failpoint("journalBeforeConsume");
    await this.#position.set(upTo);
    for (const [number, { bytes }] of this.#entries) {
      if (number > upTo) break;
      this.#entries.delete(number);
      this.#records -= 1;
      this.#bytes -= bytes;
    }
    this.#turnedAway = false;
    await this.#failpoint("journalAfterConsume");
    await this.#removeConsumed(upTo);
  }

  async #removeConsumed(upTo: number): Promise<void> {
    const gone = this.#segments.filter((segment) => segment !== this.#active && segment.last <= upTo);
    if (gone.length === 0) return;
    await removeFiles(
      this.#options.folder,
      gone.map(({ name }) => name),
    );
    for (const segment of gone) {
      this.#segments.splice(this.#segments.indexOf(segment), 1);
      await segment.handle.close();
    }
    await this.#failpoint("journalAfterRemove");
  }

  async #failpoint(step: Failpoint): Promise<void> {
    await this.#options.failpoint?.(step);
  }
}
