/**
 * What owners of shards have written, in files beside the tree. One file of this process for all its shards: transactions that
 * come together share one write and one sync. A disk that does not take it holds nobody up: the tree has it.
 */
import { randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { AppliedTransaction, RedoLog } from "@sluice/job-queue";
import { makeFolder, syncFolder } from "@sluice/journal";
import { type Pruned, pruneRedo, type RedoBounds, redoName } from "./redo-files.ts";
import { printLine } from "./redo-line.ts";

export interface RedoOptions extends RedoBounds {
  readonly folder: string;
  readonly segmentBytes: number;
  readonly nowMs: () => number;
  /** Of the fleet, now; null: not known, and nothing can be kept. */
  readonly epoch: () => number | null;
  /** Wakes us later; returns the way to stop it. */
  readonly later: (ms: number, wake: () => void) => () => void;
  /** Transactions that are not in the log: a restore would not have them. */
  readonly onLost: (transactions: number, why: string) => void;
  readonly onPruned?: (pruned: Pruned) => void;
}

/** Longer nobody waits for a disk: what is in the tree is answered. */
const PATIENCE_MS = 2_000;
/** A disk that hangs must not fill the memory. */
const WAITING_BYTES_MAX = 64 * 1024 * 1024;
const FILE_MODE = 0o600;

interface Waiting {
  readonly line: string;
  readonly done: () => void;
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly epoch: number;
  bytes: number;
}

export class RedoWriter implements RedoLog {
  readonly #options: RedoOptions;
  #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #writing: Promise<void> | null = null;
  #file: OpenFile | null = null;
  #lastStart = 0;
  /** The disk has kept somebody waiting for too long, and nobody waits for it until it has written. */
  #isBehind = false;
  /** Whoever asked before is answered before. */
  #last: Promise<void> = Promise.resolve();

  constructor(options: RedoOptions) {
    this.#options = options;
  }

  keep(transaction: AppliedTransaction): Promise<void> {
    const line = printLine(transaction);
    if (this.#waitingBytes + line.length > WAITING_BYTES_MAX) {
      this.#options.onLost(1, "the disk does not keep up");
      return this.#last;
    }
    this.#waitingBytes += line.length;
    const written = new Promise<void>((done) => this.#waiting.push({ line, done }));
    if (!this.#isBehind) this.#last = Promise.all([this.#last, this.#inPatience(written)]).then(() => undefined);
    this.#writing ??= this.#write().finally(() => (this.#writing = null));
    return this.#last;
  }

  /** Removes what no snapshot needs any more. */
  async prune(): Promise<Pruned> {
    const pruned = await pruneRedo(this.#options.folder, this.#options, this.#options.nowMs());
    this.#options.onPruned?.(pruned);
    return pruned;
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#file?.handle.close();
    this.#file = null;
  }

  #inPatience(written: Promise<void>): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#options.later(PATIENCE_MS, () => {
        this.#isBehind = true;
        resolve();
      });
      written
        .then(() => {
          stop();
          resolve();
        })
        .catch(() => resolve());
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      const bytes = Buffer.from(group.map(({ line }) => line).join(""));
      try {
        await this.#append(bytes);
      } catch (error) {
        await this.#abandon();
        this.#options.onLost(group.length, error instanceof Error ? error.message : String(error));
      }
      this.#isBehind = false;
      for (const { line, done } of group) {
        this.#waitingBytes -= line.length;
        done();
      }
    }
  }

  async #append(bytes: Buffer): Promise<void> {
    const file = await this.#fileFor();
    let done = 0;
    while (done < bytes.length)
      done += (await file.handle.write(bytes, done, bytes.length - done, file.bytes + done)).bytesWritten;
    await file.handle.datasync();
    file.bytes += bytes.length;
  }

  async #fileFor(): Promise<OpenFile> {
    const { folder, segmentBytes, epoch: now, nowMs } = this.#options;
    const epoch = now();
    if (epoch === null) throw new Error("the fleet's epoch is not known");
    if (this.#file !== null && this.#file.epoch === epoch && this.#file.bytes < segmentBytes) return this.#file;
    await this.#abandon();
    await makeFolder(folder);
    this.#lastStart = Math.max(nowMs(), this.#lastStart + 1);
    const name = redoName(this.#lastStart, epoch, randomBytes(6).toString("hex"));
    const handle = await open(join(folder, name), "wx", FILE_MODE);
    this.#file = { handle, epoch, bytes: 0 };
    await syncFolder(folder);
    // Now and not in an hour: a busy queue fills many files by then. What cannot be removed is tried again.
    await this.prune().catch(() => undefined);
    return this.#file;
  }

  /** Nothing is written behind what may be half there: readers stop at a torn line. */
  async #abandon(): Promise<void> {
    const { handle } = this.#file ?? {};
    this.#file = null;
    await handle?.close().catch(() => undefined);
  }
}
