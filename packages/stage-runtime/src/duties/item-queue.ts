/** The items of a directory in the order in which this worker takes them, with the delays it has given them itself. */
import { ownerOf } from "@sluice/queue-core";
import { DirectoryList } from "../engine/directory-list.ts";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";

/** As for jobs: what its proper worker has not taken after so long is anybody's. */
const TAKE_OVER_MS = 1_000;

export class ItemQueue {
  readonly #scope: Scope;
  readonly #list: DirectoryList;
  /** Kept in memory: a new worker, or another one, may try at once. */
  readonly #notBeforeMs = new Map<string, number>();
  #firstSeenMs = new Map<string, number>();
  #names: readonly string[] = [];

  constructor(scope: Scope, path: string, waker: Waker) {
    this.#scope = scope;
    this.#list = new DirectoryList(scope, path, waker);
  }

  /** All that may be taken now, our own part first. */
  async ready(): Promise<readonly string[]> {
    if (this.#list.isDue(true)) await this.#refill();
    const nowMs = this.#nowMs();
    const workers = await this.#scope.members.list();
    const open = this.#names.filter((name) => (this.#notBeforeMs.get(name) ?? 0) <= nowMs);
    const own = new Set(open.filter((name) => ownerOf(name, workers) === this.#scope.actor.worker));
    const left = open.filter(
      (name) => !own.has(name) && nowMs - (this.#firstSeenMs.get(name) ?? nowMs) >= TAKE_OVER_MS,
    );
    return [...own, ...left];
  }

  /** It is still there, and to be looked at again then. */
  postpone(name: string, delayMs: number): void {
    this.#notBeforeMs.set(name, this.#nowMs() + delayMs);
    this.#list.markOutdated();
  }

  idleMs(): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    const nowMs = this.#nowMs();
    let waitMs = this.#names.length > 0 ? pollMs : idlePollMs;
    for (const atMs of this.#notBeforeMs.values()) if (atMs > nowMs) waitMs = Math.min(waitMs, atMs - nowMs);
    return Math.max(1, waitMs);
  }

  #nowMs(): number {
    return this.#scope.queue.clock.monotonicMs();
  }

  async #refill(): Promise<void> {
    const names = await this.#list.read();
    if (names === null) return;
    const nowMs = this.#nowMs();
    const before = this.#firstSeenMs;
    this.#names = [...names].sort();
    this.#firstSeenMs = new Map(names.map((name) => [name, before.get(name) ?? nowMs]));
    for (const name of this.#notBeforeMs.keys()) if (!this.#firstSeenMs.has(name)) this.#notBeforeMs.delete(name);
  }
}
