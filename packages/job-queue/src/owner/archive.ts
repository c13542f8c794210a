/**
 * What has ended leaves the tree for the archive: the oldest first, a slice at a time, whenever there is more of it than the
 * tree should hold, and what is old. A slice is on disk before its entries are deleted. Behind this, callers are held back.
 */
import type { Op, Session } from "@sluice/zookeeper";
import { ENDED_IN_TREE, type EndedInTree, STEP_JOBS } from "../limits.ts";
import type { EndedRun, RunArchive } from "../run-archive.ts";
import { type DoneEntry, type DoneIndex, HOUR_MS, hourOf } from "./done-index.ts";
import { deleteLeaving, type Leaving, readLeaving } from "./leaving.ts";

export interface ArchivistHooks {
  readonly onArchived?: (runs: number) => void;
  /** The disk, say. They stay where they are, and it is tried again. */
  readonly onFailure?: (error: unknown) => void;
  /** It stays in the tree, for a person to look at. */
  readonly onUnreadable?: (path: string) => void;
}

export interface ArchivistPorts {
  readonly session: Session;
  readonly shard: number;
  readonly archive: RunArchive;
  readonly index: DoneIndex;
  readonly write: (ops: readonly Op[]) => void;
  /** When everything given so far is in the tree; false: the term is over. */
  readonly written: () => Promise<boolean>;
  readonly later: (ms: number, wake: () => void) => () => void;
  readonly now: () => number;
  readonly hooks?: ArchivistHooks;
  readonly limits?: EndedInTree;
}

const AGAIN_LEAST_MS = 1_000;
const AGAIN_MOST_MS = 30_000;
/** Deletions under way at once: one transaction after the other is too slow where each takes long. */
const AHEAD = { usual: 4, behind: 12 };
/** Slices are so many times larger when there is much to catch up with. */
const BEHIND_SLICES = 4;

export class Archivist {
  readonly #ports: ArchivistPorts;
  readonly #limits: EndedInTree;
  /** One slice after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  #isBusy = false;
  #isOver = false;
  #againMs = AGAIN_LEAST_MS;
  #stopTimer: () => void = () => undefined;
  /** Of an older owner, which may have kept some of them. */
  #inherited: number;

  constructor(ports: ArchivistPorts) {
    this.#ports = ports;
    this.#limits = ports.limits ?? ENDED_IN_TREE;
    this.#inherited = ports.index.size;
  }

  /** Something has ended. */
  poke(): void {
    const { runs, bytes, sliceRuns, sliceBytes } = this.#limits;
    const { size, bytes: held } = this.#ports.index;
    if (this.#isBusy || this.#isOver || (size < runs + sliceRuns && held <= bytes + sliceBytes)) return;
    this.#isBusy = true;
    this.inTurn(() => this.#leave(() => this.#isTooMuch()))
      .then(() => this.#rest(null))
      .catch((error: unknown) => {
        this.#ports.hooks?.onFailure?.(error);
        this.#rest(this.#againMs);
        this.#againMs = Math.min(AGAIN_MOST_MS, 2 * this.#againMs);
      });
  }

  /** Runs that ended longer ago than this. Answers how many left. */
  empty(olderThanMs: number): Promise<number> {
    const before = this.#ports.now() - olderThanMs;
    return this.inTurn(() => this.#leave((oldest) => endOf(oldest) <= before));
  }

  stop(): void {
    this.#isOver = true;
    this.#stopTimer();
  }

  /** How far behind it is: creates are held back first, then takes too; ends never, for their work is done. */
  get holdsBack(): "nothing" | "creates" | "takes" {
    const { mostRuns, mostBytes } = this.#limits;
    const { size, bytes } = this.#ports.index;
    if (size >= 2 * mostRuns || bytes >= 2 * mostBytes) return "takes";
    return size >= mostRuns || bytes >= mostBytes ? "creates" : "nothing";
  }

  #isTooMuch(): boolean {
    const { size, bytes } = this.#ports.index;
    return size > this.#limits.runs || bytes > this.#limits.bytes;
  }

  #rest(againMs: number | null): void {
    if (againMs === null) {
      this.#isBusy = false;
      this.#againMs = AGAIN_LEAST_MS;
      this.poke();
    } else if (!this.#isOver)
      this.#stopTimer = this.#ports.later(againMs, () => {
        this.#isBusy = false;
        this.poke();
      });
  }

  /** While nothing is on its way from the tree to the archive. */
  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  async #leave(isWanted: (oldest: DoneEntry) => boolean): Promise<number> {
    let gone = 0;
    // The nodes of one slice are deleted while the next one is kept.
    let deleting: Promise<boolean> = Promise.resolve(true);
    try {
      for (;;) {
        const leaving = this.#isOver ? null : await this.#keep(this.#slice(isWanted));
        if (!(await deleting) || leaving === null) return gone;
        this.#ports.index.drop(leaving.map(({ entry }) => entry));
        deleting = this.#delete(leaving);
        gone += leaving.filter(({ reading }) => typeof reading !== "string").length;
      }
    } finally {
      await deleting;
    }
  }

  #slice(isWanted: (oldest: DoneEntry) => boolean): readonly DoneEntry[] {
    const { sliceRuns, sliceBytes } = this.#limits;
    const times = this.#isBehind() ? BEHIND_SLICES : 1;
    const oldest = this.#ports.index.oldest(times * sliceRuns, times * sliceBytes);
    const stays = oldest.findIndex((entry) => !isWanted(entry));
    return stays < 0 ? oldest : oldest.slice(0, stays);
  }

  #isBehind(): boolean {
    const { runs, bytes } = this.#limits;
    return this.#ports.index.size > 2 * runs || this.#ports.index.bytes > 2 * bytes;
  }

  /** What is on disk now, and what cannot be; null: there is nothing, or the term is over. */
  async #keep(slice: readonly DoneEntry[]): Promise<readonly Leaving[] | null> {
    const { archive, session, shard, written, hooks } = this.#ports;
    // What is not in the tree yet may never be.
    if (slice.length === 0 || !(await written())) return null;
    const leaving = await readLeaving(session, shard, slice);
    if (leaving === null) throw new Error("the tree's archive could not be read");
    const runs = leaving.flatMap(({ reading }): EndedRun[] => (typeof reading === "string" ? [] : [reading.run]));
    await archive.keep(shard, runs, this.#inherited > 0);
    this.#inherited = Math.max(0, this.#inherited - slice.length);
    hooks?.onArchived?.(runs.length);
    return leaving;
  }

  /** Small transactions, so that others find their place between them. False: the term is over. */
  async #delete(leaving: readonly Leaving[]): Promise<boolean> {
    const { written, hooks } = this.#ports;
    const under: Promise<boolean>[] = [];
    for (let from = 0; from < leaving.length; from += STEP_JOBS) {
      deleteLeaving({ ...this.#ports, onUnreadable: hooks?.onUnreadable }, leaving.slice(from, from + STEP_JOBS));
      under.push(written());
      const most = this.#isBehind() ? AHEAD.behind : AHEAD.usual;
      if (under.length >= most && !((await under.shift()) ?? true)) return false;
    }
    return written();
  }
}

/** When it ended at the latest. */
const endOf = ({ done, directory }: DoneEntry): number => done?.ended ?? (hourOf(directory) ?? 0) + HOUR_MS;
