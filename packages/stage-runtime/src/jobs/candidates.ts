/** The entries of a queue that are worth a look now, in order; the whole part of this worker is kept at hand. */
import { type JobId, type JobState, ownerOf, paths, type QueueEntry, sortEntries } from "@sluice/queue-core";
import { DirectoryList } from "../engine/directory-list.ts";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";
import { arrange } from "./arrange.ts";
import { OverdueScan } from "./overdue.ts";
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
  #backlog: readonly QueueEntry[] = [];
  #next = 0;
  #listedEntries = 0;

  constructor(scope: Scope, state: JobState, waker: Waker) {
    this.#scope = scope;
    this.#list = new DirectoryList(scope, paths.queue(state), waker);
    this.#overdue = OverdueScan.of(scope, state);
  }

  /** Up to `count` entries; none = there is nothing to do before `idleMs`. */
  async next(count: number): Promise<readonly QueueEntry[]> {
    if (this.#waitIsOver()) this.#list.markOutdated();
    if (this.#list.isDue(this.#next >= this.#backlog.length)) await this.#refill();
    const taken: QueueEntry[] = [];
    while (taken.length < count && this.#next < this.#backlog.length) {
      const entry = this.#backlog[this.#next++];
      if (entry !== undefined && !this.#scope.inHand.has(entry.id)) taken.push(entry);
    }
    return taken;
  }

  /** They were looked at and are ready, but there was no room for them. */
  putBack(entries: readonly QueueEntry[]): void {
    if (entries.length === 0) return;
    this.#backlog = [...entries, ...this.#backlog.slice(this.#next)];
    this.#next = 0;
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
    this.#waits.keepOnly(new Set(entries.map(({ id }) => id)));
    const nowServerMs = this.#serverNowMs();
    const open = entries.filter(({ id }) => !this.#scope.inHand.has(id) && !this.#waits.waits(id, nowServerMs));
    this.#backlog = arrange(open, {
      isOwn,
      isLeftOver: ({ id }) => nowMs - (seen.get(id) ?? nowMs) >= TAKE_OVER_MS,
      isOverdue: ({ id }) => this.#overdue.has(id),
      random: this.#scope.random,
    });
    this.#next = 0;
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
