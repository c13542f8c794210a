/** The entries of a queue that are worth a look now, in order; the whole part of this worker is kept at hand. */
import { type JobId, type JobState, parseQueueEntry, paths, type QueueEntry } from "@sluice/queue-core";
import { DirectoryList } from "../engine/directory-list.ts";
import { Partition } from "../engine/partition.ts";
import type { Scope } from "../engine/scope.ts";
import { SortedNames } from "../engine/sorted-names.ts";
import type { Waker } from "../engine/waker.ts";
import { arrange } from "./arrange.ts";
import { Collections, LEARNED_AT_ONCE } from "./collections.ts";
import { OverdueScan } from "./overdue.ts";
import { LastTurns, Turns } from "./turns.ts";
import { Waits } from "./waits.ts";

/** In two lists so far apart, an entry that its proper worker did not take is anybody's. */
const TAKE_OVER_MS = 1_000;
/** Workers of an idle stage see a left-over at one moment: they must not all claim it at one moment. */
const TAKE_OVER_JITTER_MS = 500;

export class Candidates {
  readonly #scope: Scope;
  readonly #list: DirectoryList;
  readonly #order = new SortedNames(parseQueueEntry);
  readonly #partition: Partition;
  readonly #overdue: OverdueScan;
  readonly #waits = new Waits();
  /** Others' entries, and from when on each is anybody's. */
  #anybodysFromMs = new Map<JobId, number>();
  readonly #collections: Collections;
  readonly #lastTurns = new LastTurns();
  #backlog: Turns<QueueEntry>;
  #listedEntries = 0;
  /** When the first of the others' fresh entries will have lain for long enough. */
  #leftOverAtMs = Infinity;

  constructor(scope: Scope, state: JobState, waker: Waker) {
    this.#scope = scope;
    this.#list = new DirectoryList(scope, paths.queue(state), waker);
    this.#partition = new Partition(scope.actor.worker);
    this.#overdue = OverdueScan.of(scope, state);
    this.#collections = new Collections(scope.queue.session);
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
    return this.#backlog.take(count, ({ id }) => !this.#scope.inHand.has(id), except);
  }

  /** A part at a time: what is not known yet is taken after what is. */
  async #learn(): Promise<void> {
    const unknown = this.#backlog.unknown(LEARNED_AT_ONCE);
    if (unknown.length === 0) return;
    await this.#collections.learn(unknown.map(({ id }) => id));
    this.#backlog.learned();
  }

  #turns(tiers: ReturnType<typeof arrange>): Turns<QueueEntry> {
    const view = {
      collectionOf: ({ id }: QueueEntry) => this.#collections.of(id),
      inHand: (collection: string) => this.#scope.inHand.of(collection),
    };
    return new Turns(tiers, view, this.#lastTurns);
  }

  /** They were looked at and are ready, but there was no room for them. */
  putBack(entries: readonly QueueEntry[]): void {
    this.#backlog.putBack(entries);
  }

  wait(id: JobId, readyAtMs: number): void {
    this.#waits.note(id, readyAtMs, this.#serverNowMs());
  }

  /** How long nothing will happen unless a watch says otherwise. */
  idleMs(): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    const poll = this.#listedEntries > 0 ? pollMs : idlePollMs;
    const readyAtMs = this.#waits.nextAtMs() ?? Infinity;
    return Math.max(1, Math.min(poll, readyAtMs - this.#serverNowMs(), this.#leftOverAtMs - this.#nowMs()));
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
    const entries = this.#order.update(names);
    const nowMs = this.#nowMs();
    await this.#overdue.look(entries, nowMs);
    this.#partition.among(workers);
    const isOwn = ({ id }: QueueEntry): boolean => this.#partition.isOwn(id);
    this.#rememberOthers(entries, isOwn, nowMs);
    const present = new Set(entries.map(({ id }) => id));
    this.#partition.keepOnly(present);
    const nowServerMs = this.#serverNowMs();
    this.#waits.keepOnly(present, nowServerMs);
    this.#collections.keepOnly(present);
    const open = entries.filter(({ id }) => !this.#scope.inHand.has(id) && !this.#waits.waits(id, nowServerMs));
    const tiers = arrange(open, {
      isOwn,
      isLeftOver: ({ id }) => nowMs >= (this.#anybodysFromMs.get(id) ?? Infinity),
      isOverdue: ({ id }) => this.#overdue.has(id),
      random: this.#scope.random,
    });
    this.#backlog = this.#turns(tiers);
    this.#listedEntries = entries.length;
    this.#list.countCost();
  }

  #rememberOthers(entries: readonly QueueEntry[], isOwn: (entry: QueueEntry) => boolean, nowMs: number): void {
    const before = this.#anybodysFromMs;
    // One moment for all that are seen for the first time: with thousands of them there are not thousands of lists.
    const fromMs = nowMs + TAKE_OVER_MS + TAKE_OVER_JITTER_MS * this.#scope.random();
    this.#anybodysFromMs = new Map();
    this.#leftOverAtMs = Infinity;
    for (const entry of entries) {
      if (isOwn(entry)) continue;
      const anybodysFromMs = before.get(entry.id) ?? fromMs;
      this.#anybodysFromMs.set(entry.id, anybodysFromMs);
      if (anybodysFromMs > nowMs) this.#leftOverAtMs = Math.min(this.#leftOverAtMs, anybodysFromMs);
    }
  }
}
