/** The archive as earlier versions wrote it, by blocks of ids: read only, until its retention is over. */
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { blockOf, type EndedRun } from "@sluice/job-queue";
import { lastWriteOf, listFiles, readRuns } from "./archive-files.ts";
import { blankRuns, linesOf } from "./runs/blank.ts";
import { afterKey, keyOf, newestFirst, parseKey, printKey } from "./page-key.ts";

export interface BlockPage {
  readonly runs: readonly EndedRun[];
  readonly next: string | null;
}

export class BlockArchive {
  readonly #folder: string;
  readonly #onBad: (name: string, line: string) => void;

  constructor(folder: string, onBad: (name: string, line: string) => void) {
    this.#folder = folder;
    this.#onBad = onBad;
  }

  async runsOf(id: number): Promise<readonly EndedRun[]> {
    const runs = await this.#runsOfBlock(blockOf(id));
    return runs.filter((run) => run.id === id);
  }

  async isEmpty(): Promise<boolean> {
    return (await listFiles(this.#folder)).length === 0;
  }

  /** Newest blocks first; `after` is a key of ours, or "". */
  async list(after: string, limit: number): Promise<BlockPage> {
    const from = parseKey(after);
    if (after !== "" && from === null) return { runs: [], next: null };
    const blocks = [...new Set((await listFiles(this.#folder)).map(({ block }) => block))].sort((a, b) => b - a);
    const runs: EndedRun[] = [];
    for (const block of blocks) {
      if (from !== null && block > from.block) continue;
      const rest = (await this.#runsOfBlock(block)).filter((run) => from === null || afterKey(run, from));
      for (const each of rest.slice(0, limit - runs.length)) runs.push(each);
      // The last one of a page leads on; that nothing may come after it costs one empty page.
      const last = runs.at(-1);
      if (runs.length >= limit && last !== undefined) return { runs, next: printKey(keyOf(last)) };
    }
    return { runs, next: null };
  }

  /** Answers the files in which runs of these jobs stood. */
  async forget(ids: ReadonlySet<number>): Promise<readonly string[]> {
    const blocks = new Set([...ids].map(blockOf));
    const changed: string[] = [];
    for (const { name } of (await listFiles(this.#folder)).filter(({ block }) => blocks.has(block))) {
      const path = join(this.#folder, name);
      if (await blankRuns(path, await linesOf(path), ids)) changed.push(path);
    }
    return changed;
  }

  async paths(): Promise<readonly string[]> {
    return (await listFiles(this.#folder)).map(({ name }) => join(this.#folder, name));
  }

  async purge(before: number): Promise<number> {
    let gone = 0;
    for (const path of await this.paths()) {
      const written = await lastWriteOf(path);
      if (written === null || written > before) continue;
      await unlink(path).catch(() => undefined);
      gone += 1;
    }
    return gone;
  }

  /** Newest first, each once. */
  async #runsOfBlock(block: number): Promise<readonly EndedRun[]> {
    const found = new Map<string, EndedRun>();
    for (const { name } of (await listFiles(this.#folder)).filter((file) => file.block === block)) {
      const runs = await readRuns(join(this.#folder, name), (line) => this.#onBad(name, line));
      for (const run of runs) found.set(`${run.id}-${run.token}`, run);
    }
    return [...found.values()].sort(newestFirst);
  }
}
