/** Keeps ended runs in memory, as the port says: last kept first, a page at a time. */
import { shardOf } from "../../src/ids.ts";
import type { EndedRun, RunArchive, RunPage, RunsAsked } from "../../src/run-archive.ts";

export class MemoryArchive implements RunArchive {
  kept: EndedRun[] = [];
  /** Throws this instead of keeping. */
  problem: Error | null = null;

  keep(_shard: number, runs: readonly EndedRun[], mayBeThere: boolean): Promise<void> {
    if (this.problem !== null) return Promise.reject(this.problem);
    const isThere = (run: EndedRun): boolean => this.kept.some(({ id, token }) => id === run.id && token === run.token);
    this.kept.push(...(mayBeThere ? runs.filter((run) => !isThere(run)) : runs));
    return Promise.resolve();
  }

  runsOf(id: number, most: number): Promise<readonly EndedRun[]> {
    return Promise.resolve(
      this.kept
        .filter((run) => run.id === id)
        .reverse()
        .slice(0, most),
    );
  }

  list(shard: number, { tenant, names, after, since, limit }: RunsAsked): Promise<RunPage> {
    const from = after === null ? this.kept.length : Number(after);
    const places = this.kept.flatMap(({ id, done }, place) =>
      shardOf(id) === shard && done.tenant === tenant && (names?.includes(done.name) ?? true) && place < from
        ? [place]
        : [],
    );
    const page = places.reverse().slice(0, limit);
    const runs = page.map((place) => ({ run: this.kept[place]!, isNews: place >= Number(since) }));
    return Promise.resolve({ runs, next: page.length < limit ? null : String(page.at(-1)) });
  }

  forget(_shard: number, ids: ReadonlySet<number>): Promise<void> {
    if (this.problem !== null) return Promise.reject(this.problem);
    this.kept = this.kept.filter(({ id }) => !ids.has(id));
    return Promise.resolve();
  }

  head(): string {
    return String(this.kept.length);
  }
}
