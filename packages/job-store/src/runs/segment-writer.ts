/** Appends runs to the newest segment of a shard. What is complete gets its index, and is never written to again. */
import { type FileHandle, open, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { EndedRun } from "@sluice/job-queue";
import { makeFolder, syncFolder } from "@sluice/journal";
import { writeIndex } from "./index-file.ts";
import { printRun } from "./line.ts";
import { RunIndex } from "./run-index.ts";
import { dayOf, indexPath, runsPath, type Segment } from "./segment-name.ts";

const MODE = 0o640;

export interface WriterPorts {
  readonly folder: string;
  readonly writer: string;
  readonly segmentBytes: number;
  readonly nowMs: () => number;
}

export interface OpenSegment {
  readonly segment: Segment;
  readonly index: RunIndex;
}

export class SegmentWriter {
  readonly #ports: WriterPorts;
  #open: OpenSegment | null = null;
  #lastStart = 0;

  constructor(ports: WriterPorts) {
    this.#ports = ports;
  }

  /** The one that is written to. */
  get current(): OpenSegment | null {
    return this.#open;
  }

  /** On disk when it returns. */
  async append(runs: readonly EndedRun[]): Promise<void> {
    if (runs.length === 0) return;
    await this.#sealIfFull();
    const { segment, index } = this.#open ?? (this.#open = await this.#begin());
    const lines = runs.map(printRun);
    const bytes = Buffer.from(lines.join(""));
    try {
      await this.#write(runsPath(this.#ports.folder, segment), bytes, index.bytes);
    } catch (error) {
      // What is half there is cut off if that is possible, and nothing is written after it.
      this.#open = null;
      await truncate(runsPath(this.#ports.folder, segment), index.bytes).catch(() => undefined);
      throw error;
    }
    let offset = index.bytes;
    runs.forEach((run, n) => {
      index.add(run, offset);
      offset += Buffer.byteLength(lines[n] ?? "");
    });
    index.bytes = offset;
  }

  async #sealIfFull(): Promise<void> {
    const { folder, segmentBytes, nowMs } = this.#ports;
    if (this.#open === null) return;
    const { segment, index } = this.#open;
    if (index.bytes < segmentBytes && segment.day === dayOf(nowMs())) return;
    this.#open = null;
    // Without an index it is read as one that its writer left: its runs are on disk.
    await writeIndex(indexPath(folder, segment), index);
  }

  async #begin(): Promise<OpenSegment> {
    const { folder, writer, nowMs } = this.#ports;
    const start = Math.max(nowMs(), this.#lastStart + 1);
    this.#lastStart = start;
    const segment: Segment = { day: dayOf(start), start, writer };
    await makeFolder(join(folder, segment.day));
    const handle = await open(runsPath(folder, segment), "wx", MODE);
    await handle.close();
    await syncFolder(join(folder, segment.day));
    return { segment, index: new RunIndex() };
  }

  async #write(path: string, bytes: Buffer, at: number): Promise<void> {
    const handle = await open(path, "r+");
    try {
      await writeAll(handle, bytes, at);
      await handle.datasync();
    } finally {
      await handle.close();
    }
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}
