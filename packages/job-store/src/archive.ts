/** Runs that have ended, for good: a shard's in segments, in the order in which they came, each with an index. */
import { basename } from "node:path";
import { type EndedRun, type RunArchive, type RunPage, type RunsAsked, shardOf, SHARDS } from "@sluice/job-queue";
import { BlobNames } from "./blob-names.ts";
import { BlockArchive } from "./block-archive.ts";
import { isSame, isWriter, newestFirst, parsePlace, type Place, printPlace, shardFolder } from "./runs/segment-name.ts";
import { Segments } from "./runs/segments.ts";

export const RETENTION_MS = 14 * 24 * 3_600_000;
/** A segment that is larger is followed by the next. So is one of the day before: segments are purged whole. */
export const SEGMENT_BYTES = 16 * 1024 * 1024;
/** What a cursor begins with when all segments have been read. */
const BLOCKS = "blocks:";

export interface ArchiveOptions {
  readonly folder: string;
  /** Of this process alone: its part of the files' names. */
  readonly writer: string;
  readonly segmentBytes?: number;
  readonly nowMs: () => number;
  /** A line that cannot be read, and the file in which it stands. */
  readonly onBadLine: (file: string, line: string) => void;
}

interface ShardArchive {
  readonly segments: Segments;
  readonly blocks: BlockArchive;
}

export class Archive implements RunArchive {
  readonly #shards: readonly ShardArchive[];
  readonly #blobNames = new BlobNames();

  constructor({ folder, writer, segmentBytes = SEGMENT_BYTES, nowMs, onBadLine }: ArchiveOptions) {
    if (!isWriter(writer)) throw new Error(`${writer} cannot stand in the name of a file`);
    this.#shards = Array.from({ length: SHARDS }, (_, shard) => {
      const path = shardFolder(folder, shard);
      const onBad = (file: string, line: string): void => onBadLine(basename(file), line);
      return {
        segments: new Segments({ folder: path, writer, segmentBytes, nowMs, onBad }),
        blocks: new BlockArchive(path, onBad),
      };
    });
  }

  keep(shard: number, runs: readonly EndedRun[], mayBeThere: boolean): Promise<void> {
    return this.#of(shard).segments.keep(runs, mayBeThere);
  }

  async runsOf(id: number, most: number): Promise<readonly EndedRun[]> {
    const { segments, blocks } = this.#of(shardOf(id));
    const runs = await segments.runsOf(id, most);
    if (runs.length >= most) return runs;
    const tokens = new Set(runs.map(({ token }) => token));
    const older = (await blocks.runsOf(id)).filter(({ token }) => !tokens.has(token));
    return [...runs, ...older].slice(0, most);
  }

  async list(shard: number, { after, since, ...asked }: RunsAsked): Promise<RunPage> {
    const { segments, blocks } = this.#of(shard);
    if (after?.startsWith(BLOCKS) === true) {
      const page = await blocks.list(after.slice(BLOCKS.length), asked.limit);
      const wanted = page.runs.filter(
        ({ done }) => done.tenant === asked.tenant && (asked.names?.includes(done.name) ?? true),
      );
      return { runs: wanted.map((run) => ({ run, isNews: false })), next: page.next && `${BLOCKS}${page.next}` };
    }
    const from = after === null ? null : parsePlace(after);
    if (after !== null && from === null) return { runs: [], next: null };
    const mark = parsePlace(since);
    const { found, next } = await segments.page(from, asked);
    const runs = found.map((each) => ({ run: each.run, isNews: mark !== null && !isBefore(each, mark) }));
    if (next !== null) return { runs, next: printPlace(next) };
    return { runs, next: (await blocks.isEmpty()) ? null : BLOCKS };
  }

  async forget(shard: number, ids: ReadonlySet<number>): Promise<void> {
    const { segments, blocks } = this.#of(shard);
    this.#blobNames.searchAgain([...(await segments.forget(ids)), ...(await blocks.forget(ids))]);
  }

  head(shard: number): string {
    return printPlace(this.#of(shard).segments.head());
  }

  /** Removes files that were last written to longer ago than this. Answers how many. */
  async purge(nowMs: number, retentionMs: number = RETENTION_MS): Promise<number> {
    let gone = 0;
    for (const { segments, blocks } of this.#shards) {
      gone += (await segments.purge(nowMs - retentionMs)) + (await blocks.purge(nowMs - retentionMs));
      await segments.tidy();
    }
    return gone;
  }

  /** The sha256 of every blob that a run names. */
  async namedBlobs(): Promise<ReadonlySet<string>> {
    const paths: string[] = [];
    for (const { segments, blocks } of this.#shards)
      for (const path of [...(await segments.paths()), ...(await blocks.paths())]) paths.push(path);
    return this.#blobNames.of(paths);
  }

  #of(shard: number): ShardArchive {
    const found = this.#shards[shard];
    if (found === undefined) throw new Error(`no shard ${shard}`);
    return found;
  }
}

function isBefore(place: Place, mark: Place): boolean {
  if (isSame(place.segment, mark.segment)) return place.offset < mark.offset;
  return newestFirst(mark.segment, place.segment) < 0;
}
