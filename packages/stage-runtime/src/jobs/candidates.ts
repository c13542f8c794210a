/** The entries of a queue that are worth a look now, in order; the whole part of this worker is kept at hand. */
import { type JobId, type JobState, ownerOf, paths, type QueueEntry, sortEntries } from "@sluice/queue-core";
import { DirectoryList } from "../engine/directory-list.ts";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";
import { arrange } from "./arrange.ts";
import { Collections, LEARNED_AT_ONCE } from "./collections.ts";
import { OverdueScan } from "./overdue.ts";
import { LastTurns, Turns } from "./turns.ts";
import { Waits } from "./waits.ts";

/** After so long in the list, an entry that its proper worker did not take is anybody's. */
const TAKE_OVER_MS = 1_000;

export class Candidates {
  readonly #scope: Scope;
  readonly #list: DirectoryList;
  readonly #overdue: OverdueScan;
  readonly #waits = new Waits();
  /** Others' entries, since when they are known. */
  #firstSeenMs = new Map<JobId, number>();
  readonly #collections: Collections;
  readonly #lastTurns = new LastTurns();
  #backlog: Turns<QueueEntry>;
  #listedEntries = 0;

  constructor(scope: Scope, state: JobState, waker: Waker) {
    this.#scope = scope;
    this.#list = new DirectoryList(scope, paths.queue(state), waker);
    this.#overdue = OverdueScan.of(scope, state);
    this.#collections = new Collections(scope.queue.session);
    this.#backlog = this.#turns([]);
  }

  /**
   * Up to `count` entries; none = there is nothing to do before `idleMs`. With `except` only those of other collections,
   * out of the last list unless its time is over: whoever asks so has no room and must not list at every change.
   */
  async next(count: number, except?: string): Promise<readonly QueueEntry[]> {
    if (this.#waitIsOver()) this.#list.markOutdated();
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
    const readyAtMs = this.#waits.nextAtMs();
    return readyAtMs === null ? poll : Math.max(1, Math.min(poll, readyAtMs - this.#serverNowMs()));
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
    const entries = sortEntries(names);
    const nowMs = this.#scope.queue.clock.monotonicMs();
    await this.#overdue.look(entries, nowMs);
    const isOwn = this.#ownership(workers);
    const seen = this.#firstSeenMs;
    this.#rememberOthers(entries, isOwn, nowMs);
    const present = new Set(entries.map(({ id }) => id));
    this.#waits.keepOnly(present);
    this.#collections.keepOnly(present);
    const nowServerMs = this.#serverNowMs();
    const open = entries.filter(({ id }) => !this.#scope.inHand.has(id) && !this.#waits.waits(id, nowServerMs));
    const tiers = arrange(open, {
      isOwn,
      isLeftOver: ({ id }) => nowMs - (seen.get(id) ?? nowMs) >= TAKE_OVER_MS,
      isOverdue: ({ id }) => this.#overdue.has(id),
      random: this.#scope.random,
    });
    this.#backlog = this.#turns(tiers);
    this.#listedEntries = entries.length;
  }

  #ownership(workers: readonly string[]): (entry: QueueEntry) => boolean {
    const self = this.#scope.actor.worker;
    return workers.length < 2 ? () => true : ({ id }) => ownerOf(id, workers) === self;
  }

  #rememberOthers(entries: readonly QueueEntry[], isOwn: (entry: QueueEntry) => boolean, nowMs: number): void {
    const before = this.#firstSeenMs;
    const others = entries.filter((entry) => !isOwn(entry));
    this.#firstSeenMs = new Map(others.map(({ id }) => [id, before.get(id) ?? nowMs]));
  }
}
