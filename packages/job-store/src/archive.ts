/** Runs that have ended, for good: files by blocks of ids, so that a job's runs are found by arithmetic. */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { blockOf, type EndedRun, type RunArchive, type RunPage, shardOf, SHARDS } from "@sluice/job-queue";
import { appendRuns, FILE_BYTES, isWriter, lastWriteOf, listFiles, readRuns, shardFolder } from "./archive-files.ts";
import { afterKey, keyOf, newestFirst, parseKey, printKey } from "./page-key.ts";
import { BlobNames } from "./blob-names.ts";

export const RETENTION_MS = 14 * 24 * 3_600_000;

export interface ArchiveOptions {
  readonly folder: string;
  /** Of this process alone: its part of the files' names. */
  readonly writer: string;
  readonly fileBytes?: number;
  /** A line that cannot be read, and the file in which it stands. */
  readonly onBadLine: (file: string, line: string) => void;
}

export class Archive implements RunArchive {
  readonly #options: ArchiveOptions;
  readonly #blobNames = new BlobNames();
  /** One after the other: a file is looked at before it is written to. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor(options: ArchiveOptions) {
    if (!isWriter(options.writer)) throw new Error(`${options.writer} cannot stand in the name of a file`);
    this.#options = options;
  }

  keep(shard: number, runs: readonly EndedRun[]): Promise<void> {
    const { folder, writer, fileBytes = FILE_BYTES } = this.#options;
    const kept = this.#writing.then(() => appendRuns(shardFolder(folder, shard), writer, runs, fileBytes));
    this.#writing = kept.catch(() => undefined);
    return kept;
  }

  async runsOf(id: number): Promise<readonly EndedRun[]> {
    const runs = await this.#runsOfBlock(shardOf(id), blockOf(id));
    return runs.filter((run) => run.id === id);
  }

  async list(shard: number, after: string | null, limit: number): Promise<RunPage> {
    const from = after === null ? null : parseKey(after);
    if (after !== null && from === null) return { runs: [], next: null };
    const files = await listFiles(shardFolder(this.#options.folder, shard));
    const blocks = [...new Set(files.map(({ block }) => block))].sort((a, b) => b - a);
    const runs: EndedRun[] = [];
    for (const block of blocks) {
      if (from !== null && block > from.block) continue;
      const rest = (await this.#runsOfBlock(shard, block)).filter((run) => from === null || afterKey(run, from));
      for (const each of rest.slice(0, limit - runs.length)) runs.push(each);
      // The last one of a page leads on; that nothing may come after it costs one empty page.
      if (runs.length >= limit) return { runs, next: nextOf(runs) };
    }
    return { runs, next: null };
  }

  /** Removes files that were last written to longer ago than this. Answers how many. */
  async purge(nowMs: number, retentionMs: number = RETENTION_MS): Promise<number> {
    let gone = 0;
    for (const path of await this.#allFiles()) {
      const written = await lastWriteOf(path);
      if (written === null || written > nowMs - retentionMs) continue;
      await unlink(path).catch(() => undefined);
      gone += 1;
    }
    return gone;
  }

  /** The sha256 of every blob that a run names. */
  async namedBlobs(): Promise<ReadonlySet<string>> {
    return this.#blobNames.of(await this.#allFiles());
  }

  async #allFiles(): Promise<readonly string[]> {
    const folders = Array.from({ length: SHARDS }, (_, shard) => shardFolder(this.#options.folder, shard));
    const files: string[] = [];
    for (const folder of folders) for (const { name } of await listFiles(folder)) files.push(join(folder, name));
    return files;
  }

  /** Newest first, each once. */
  async #runsOfBlock(shard: number, block: number): Promise<readonly EndedRun[]> {
    const folder = shardFolder(this.#options.folder, shard);
    const found = new Map<string, EndedRun>();
    for (const { name } of (await listFiles(folder)).filter((file) => file.block === block)) {
      const runs = await readRuns(join(folder, name), (line) => this.#options.onBadLine(name, line));
      for (const run of runs) found.set(`${run.id}-${run.token}`, run);
    }
    return [...found.values()].sort(newestFirst);
  }
}

function nextOf(runs: readonly EndedRun[]): string | null {
  const last = runs.at(-1);
  return last === undefined ? null : printKey(keyOf(last));
}
