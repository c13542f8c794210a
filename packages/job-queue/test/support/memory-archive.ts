/** Keeps ended runs in memory, in the order of the port: newest blocks first, a page at a time. */
import { blockOf, shardOf } from "../../src/ids.ts";
import type { EndedRun, RunArchive, RunPage } from "../../src/run-archive.ts";

export class MemoryArchive implements RunArchive {
  readonly kept: EndedRun[] = [];

  keep(_shard: number, runs: readonly EndedRun[]): Promise<void> {
    this.kept.push(...runs);
    return Promise.resolve();
  }

  runsOf(id: number): Promise<readonly EndedRun[]> {
    return Promise.resolve(this.kept.filter((run) => run.id === id));
  }

  list(shard: number, after: string | null, limit: number): Promise<RunPage> {
    const all = this.kept.filter(({ id }) => shardOf(id) === shard);
    all.sort((a, b) => blockOf(b.id) - blockOf(a.id) || b.done.ended - a.done.ended || b.id - a.id);
    const from = Number(after ?? 0);
    const runs = all.slice(from, from + limit);
    return Promise.resolve({ runs, next: from + limit < all.length ? String(from + limit) : null });
  }
}
