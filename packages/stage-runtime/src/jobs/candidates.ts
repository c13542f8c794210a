/** The entries of a queue that are worth a look now, in order; the whole part of this worker is kept at hand. */
import { type JobState, paths, type QueueEntry } from "@sluice/queue-core";
import { Allowance } from "../engine/allowance.ts";
import { DirectoryList } from "../engine/directory-list.ts";
import { Partition } from "../engine/partition.ts";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";
import { arrange } from "./arrange.ts";
import { LEARNED_AT_ONCE, readCollections } from "./collections.ts";
import { ListedQueue } from "./listed-queue.ts";
import { OverdueScan } from "./overdue.ts";
import { takeOverMs } from "./take-over.ts";
import { LastTurns, Turns } from "./turns.ts";
import { Waits } from "./waits.ts";

/** Whose the jobs are is read for so many at once, and then for so many a second: a claim costs the same in a deep queue. */
const LEARNED_SOON = 10 * LEARNED_AT_ONCE;
const LEARNED_PER_SECOND = LEARNED_AT_ONCE;
/** Fewer are not worth a request. */
const LEARNED_AT_LEAST = 100;

export class Candidates {
  readonly #scope: Scope;
  readonly #list: DirectoryList;
  readonly #queue = new ListedQueue();
  readonly #partition: Partition;
  readonly #overdue: OverdueScan;
  readonly #waits = new Waits();
  readonly #mayLearn: Allowance;
  readonly #lastTurns = new LastTurns();
  /** Positions in the queue as listed. */
  #backlog: Turns<number>;
  /** When the first of the others' fresh entries will have lain for long enough. */
  #leftOverAtMs = Infinity;

  constructor(scope: Scope, state: JobState, waker: Waker) {
    this.#scope = scope;
    this.#list = new DirectoryList(scope, paths.queue(state), waker);
    this.#partition = new Partition(scope.actor.worker);
    this.#overdue = OverdueScan.of(scope, state);
    this.#mayLearn = new Allowance(scope.queue.clock, LEARNED_SOON, LEARNED_PER_SECOND);
    this.#backlog = this.#turns([]);
  }

  /**
   * Up to `count` entries; none = there is nothing to do before `idleMs`. With `except` only those of other collections,
   * out of the last list unless its time is over: whoever asks so has no room and must not list at every change.
   */
  async next(count: number, except?: string): Promise<readonly QueueEntry[]> {
    if (this.#waitIsOver() || this.#nowMs() >= this.#leftOverAtMs) this.#list.markOutdated();
    if (this.#list.isDue(except === undefined && this.#backlog.size === 0)) await this.#refill();
    if (except !== undefined || this.#backlog.size > count) await this.#learn();
    const nowServerMs = this.#serverNowMs();
    const isOpen = (position: number): boolean => {
      const { id } = this.#queue.at(position);
      return !this.#scope.inHand.has(id) && !this.#waits.waits(id, nowServerMs);
    };
    const taken = this.#backlog.take(count, isOpen, except);
    this.#list.took(taken.length);
    return taken.map((position) => this.#queue.at(position));
  }

  /** A part at a time: what is not known yet is taken for what stands before it. */
  async #learn(): Promise<void> {
    const { left } = this.#mayLearn;
    const unknown = left < LEARNED_AT_LEAST ? [] : this.#backlog.unknown(Math.min(left, LEARNED_AT_ONCE));
    if (unknown.length === 0) return;
    this.#mayLearn.spend(unknown.length);
    const ids = unknown.map((position) => this.#queue.at(position).id);
    const found = await readCollections(this.#scope.queue.session, ids);
    for (const [i, position] of unknown.entries()) {
      const collection = found.get(ids[i] ?? "");
      if (collection !== undefined) this.#queue.learned(position, collection);
    }
    this.#backlog.learned();
  }

  #turns(tiers: ReturnType<typeof arrange>): Turns<number> {
    const view = {
      collectionOf: (position: number) => this.#queue.collectionAt(position),
      inHand: (collection: string) => this.#scope.inHand.of(collection),
    };
    return new Turns(tiers, view, this.#lastTurns);
  }

  /** They were looked at and are ready, but there was no room for them. */
  putBack(entries: readonly QueueEntry[]): void {
    const positions = entries.map((entry) => this.#queue.positionOf(entry));
    this.#backlog.putBack(positions.filter((position) => position !== -1));
  }

  wait(entry: QueueEntry, readyAtMs: number): void {
    this.#waits.note(entry, readyAtMs, this.#serverNowMs());
  }

  /** How long nothing will happen unless a watch says otherwise. */
  idleMs(): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    const poll = this.#queue.length > 0 ? pollMs : idlePollMs;
    const readyInMs = (this.#waits.nextAtMs() ?? Infinity) - this.#serverNowMs();
    const leftOverInMs = this.#leftOverAtMs - this.#nowMs();
    return Math.max(1, Math.min(poll, readyInMs, leftOverInMs, this.#list.outdatedForMs()));
  }

  #nowMs(): number {
    return this.#scope.queue.clock.monotonicMs();
  }

  #serverNowMs(): number {
    return this.#scope.queue.session.serverNowMs();
  }

  #waitIsOver(): boolean {
    const readyAtMs = this.#waits.nextAtMs();
    return readyAtMs !== null && readyAtMs <= this.#serverNowMs();
  }

  async #refill(): Promise<void> {
    const [names, workers] = await Promise.all([this.#list.read(), this.#scope.members.list()]);
    if (names === null) return;
    const nowMs = this.#nowMs();
    const queue = this.#queue;
    // One moment for all that are seen for the first time: thousands of them must not be thousands of lists.
    queue.update(names, nowMs + takeOverMs(this.#scope.random()));
    this.#partition.among(workers);
    await this.#overdue.look(queue, nowMs);
    const overdue = new Set(this.#overdue.list().map((entry) => queue.positionOf(entry)));
    this.#waits.keepOnly((entry) => queue.positionOf(entry) !== -1, this.#serverNowMs());
    const isOwn = (position: number): boolean => this.#partition.isOwnShare(queue.shareAt(position));
    this.#leftOverAtMs = this.#firstLeftOverMs(isOwn, nowMs);
    const tiers = arrange(queue, {
      isOwn,
      isLeftOver: (position) => nowMs >= queue.anybodysFromMs(position),
      isOverdue: (position) => overdue.has(position),
      random: this.#scope.random,
    });
    this.#backlog = this.#turns(tiers);
  }

  #firstLeftOverMs(isOwn: (position: number) => boolean, nowMs: number): number {
    let firstMs = Infinity;
    for (let position = 0; position < this.#queue.length; position++) {
      const atMs = this.#queue.anybodysFromMs(position);
      if (atMs > nowMs && atMs < firstMs && !isOwn(position)) firstMs = atMs;
    }
    return firstMs;
  }
}
