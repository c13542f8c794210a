/**
 * The items of a directory in the order in which this worker takes them, with the delays it has given them itself. A list is
 * used up before the next is read, so that an item costs the same whether ten or a hundred thousand others wait.
 */
import { DirectoryList } from "../engine/directory-list.ts";
import { Partition } from "../engine/partition.ts";
import type { Scope } from "../engine/scope.ts";
import { SortedNames } from "../engine/sorted-names.ts";
import type { Waker } from "../engine/waker.ts";
import { Collections, LEARNED_AT_ONCE } from "../jobs/collections.ts";
import { takeOverMs } from "../jobs/take-over.ts";
import { LastTurns, Turns } from "../jobs/turns.ts";

export class ItemQueue {
  readonly #scope: Scope;
  readonly #list: DirectoryList;
  readonly #isRunning: (name: string) => boolean;
  readonly #inHand: (collection: string) => number;
  readonly #order = new SortedNames((name) => name);
  readonly #partition: Partition;
  readonly #collections: Collections;
  readonly #lastTurns = new LastTurns();
  /** Kept in memory: a new worker, or another one, may try at once. */
  readonly #notBeforeMs = new Map<string, number>();
  /** From when on an item of others may be taken by anybody. */
  #anybodysFromMs = new Map<string, number>();
  #backlog: Turns<string>;
  #listed = 0;
  /** When something that waits may be taken; the list must be gone through again then. */
  #nextAtMs = Infinity;

  constructor(scope: Scope, path: string, waker: Waker, running: ReadonlyMap<string, unknown>) {
    this.#scope = scope;
    this.#list = new DirectoryList(scope, path, waker);
    this.#isRunning = (name) => running.has(name);
    this.#inHand = (collection) => {
      let count = 0;
      for (const name of running.keys()) if (this.#collections.of(name) === collection) count += 1;
      return count;
    };
    this.#partition = new Partition(scope.actor.worker);
    this.#collections = new Collections(scope.queue.session);
    this.#backlog = this.#turns([], []);
  }

  /**
   * Up to `count` that may be taken now, our own part first. Collections take turns: thousands of batches of one do not
   * delay those of others.
   */
  async next(count: number): Promise<readonly string[]> {
    if (this.#nowMs() >= this.#nextAtMs) this.#list.markOutdated();
    if (this.#list.isDue(this.#backlog.size === 0)) await this.#refill();
    if (this.#backlog.size > count) await this.#learn();
    const nowMs = this.#nowMs();
    const isOpen = (name: string): boolean =>
      !this.#isRunning(name) && (this.#notBeforeMs.get(name) ?? -Infinity) <= nowMs;
    const taken = this.#backlog.take(count, isOpen);
    this.#list.took(taken.length);
    return taken;
  }

  /** Whether there is more to look at without another list. */
  get hasMore(): boolean {
    return this.#backlog.size > 0;
  }

  /** There was no room for them. */
  putBack(names: readonly string[]): void {
    this.#backlog.putBack(names);
  }

  /** It is still there, and to be looked at again then. */
  postpone(name: string, delayMs: number): void {
    const atMs = this.#nowMs() + delayMs;
    this.#notBeforeMs.set(name, atMs);
    this.#nextAtMs = Math.min(this.#nextAtMs, atMs);
  }

  /** It is gone: one of that name that comes later is another. */
  forget(name: string): void {
    this.#notBeforeMs.delete(name);
    this.#list.markOutdated();
  }

  idleMs(): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    const poll = this.#listed > 0 ? pollMs : idlePollMs;
    return Math.max(1, Math.min(poll, this.#nextAtMs - this.#nowMs(), this.#list.outdatedForMs()));
  }

  #nowMs(): number {
    return this.#scope.queue.clock.monotonicMs();
  }

  #turns(own: readonly string[], left: readonly string[]): Turns<string> {
    const view = { collectionOf: (name: string) => this.#collections.of(name), inHand: this.#inHand };
    const tiers = [own, left].map((items) => ({ items, takesTurns: true }));
    return new Turns(tiers, view, this.#lastTurns);
  }

  async #learn(): Promise<void> {
    const unknown = this.#backlog.unknown(LEARNED_AT_ONCE);
    if (unknown.length === 0) return;
    await this.#collections.learn(unknown);
    this.#backlog.learned();
  }

  async #refill(): Promise<void> {
    const [listed, workers] = await Promise.all([this.#list.read(), this.#scope.members.list()]);
    if (listed === null) return;
    const nowMs = this.#nowMs();
    const names = this.#order.update(listed);
    const present = new Set(names);
    this.#partition.among(workers);
    this.#collections.keepOnly(present);
    for (const name of this.#notBeforeMs.keys()) if (!present.has(name)) this.#notBeforeMs.delete(name);
    const own: string[] = [];
    const left: string[] = [];
    const before = this.#anybodysFromMs;
    const fromMs = nowMs + takeOverMs(this.#scope.random());
    this.#anybodysFromMs = new Map();
    this.#nextAtMs = Infinity;
    for (const name of names) {
      const isOwn = this.#partition.isOwn(name);
      const anybodysFromMs = before.get(name) ?? fromMs;
      this.#anybodysFromMs.set(name, anybodysFromMs);
      const atMs = Math.max(this.#notBeforeMs.get(name) ?? -Infinity, isOwn ? -Infinity : anybodysFromMs);
      if (atMs <= nowMs) (isOwn ? own : left).push(name);
      else this.#nextAtMs = Math.min(this.#nextAtMs, atMs);
    }
    this.#backlog = this.#turns(own, left);
    this.#listed = names.length;
  }
}
