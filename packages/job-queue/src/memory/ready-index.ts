/**
 * Which job comes next. Jobs that are due stand in a heap for each tenant, world (real or mocked), name and priority;
 * those whose time has not come stand in one heap, so that the next moment at which anything happens is its head.
 */
import { NAMES_LOOKED_AT, PATTERNS_KEPT } from "../limits.ts";
import type { NameMatch } from "../names.ts";
import { Heap } from "./heap.ts";
import { NameQueue } from "./name-queue.ts";
import { PatternViews } from "./pattern-views.ts";
import { better, type Slot, sooner } from "./slots.ts";
import { Turns } from "./turns.ts";

export type { Slot } from "./slots.ts";

export interface Wanted {
  readonly tenant: string;
  readonly names: NameMatch;
  /** Only this one; null for all. */
  readonly priority: number | null;
  /** Mocked jobs too. */
  readonly mocked: boolean;
}

/** A type of which jobs could run now. */
export interface WaitingType {
  readonly tenant: string;
  readonly name: string;
  readonly count: number;
  /** Of its first job. */
  readonly priority: number;
  readonly since: number;
}

/** Which types somebody would serve now. */
export interface TurnsAsked {
  /** Of each tenant. */
  readonly most: number;
  readonly isWanted: (type: WaitingType) => boolean;
  /** Whose first job is due since before goes first. */
  readonly agedBefore: number;
}

export interface IndexBounds {
  /** A pattern over more names than these has a heap of its own. */
  readonly lookedAt: number;
  readonly patternsKept: number;
}

const BOUNDS: IndexBounds = { lookedAt: NAMES_LOOKED_AT, patternsKept: PATTERNS_KEPT };

/** The names of one tenant, in one world. */
class Names {
  readonly #queues = new Map<string, NameQueue>();
  readonly #views: PatternViews;
  readonly turns = new Turns();
  readonly #lookedAt: number;

  constructor({ lookedAt, patternsKept }: IndexBounds) {
    this.#lookedAt = lookedAt;
    this.#views = new PatternViews(patternsKept);
  }

  get size(): number {
    return this.#queues.size;
  }

  queue(name: string): NameQueue | undefined {
    return this.#queues.get(name);
  }

  queues(): Iterable<NameQueue> {
    return this.#queues.values();
  }

  add(slot: Slot): void {
    let queue = this.#queues.get(slot.name);
    if (queue === undefined) {
      this.#queues.set(slot.name, (queue = new NameQueue(slot.name)));
      this.#views.join(queue);
      this.turns.join(queue);
    }
    queue.add(slot);
  }

  remove(slot: Slot): void {
    const queue = this.#queues.get(slot.name);
    queue?.remove(slot);
    if (queue?.size !== 0) return;
    this.#views.leave(queue);
    this.#queues.delete(slot.name);
  }

  best(match: NameMatch, priority: number | null): Slot | null {
    let best: Slot | null = null;
    if (match.kind === "names") {
      for (const name of match.names) best = better(best, this.#queues.get(name)?.first(priority) ?? null);
      return best;
    }
    if (this.size > this.#lookedAt)
      return this.#views.get(match.pattern, match.matches, priority, this.#queues.values()).best();
    for (const queue of this.#queues.values())
      if (match.matches(queue.name)) best = better(best, queue.first(priority));
    return best;
  }
}

export class ReadyIndex {
  readonly #worlds = { real: new Map<string, Names>(), mocked: new Map<string, Names>() };
  readonly #future = new Heap<Slot>(sooner);
  readonly #bounds: IndexBounds;

  constructor(bounds: IndexBounds = BOUNDS) {
    this.#bounds = bounds;
  }

  /** True if it is due. */
  add(slot: Slot, now: number): boolean {
    if (slot.nextRun > now) {
      this.#future.add(slot);
      slot.heap = this.#future;
      return false;
    }
    const tenants = slot.mock ? this.#worlds.mocked : this.#worlds.real;
    let names = tenants.get(slot.tenant);
    if (names === undefined) tenants.set(slot.tenant, (names = new Names(this.#bounds)));
    names.add(slot);
    return true;
  }

  remove(slot: Slot): void {
    if (slot.heap === this.#future) this.#future.remove(slot);
    else if (slot.heap !== null) this.#removeDue(slot);
    slot.heap = null;
  }

  /** What has become due since. */
  promote(now: number): readonly Slot[] {
    const due: Slot[] = [];
    for (let head = this.#future.first(); head !== null && head.nextRun <= now; head = this.#future.first()) {
      this.remove(head);
      this.add(head, now);
      due.push(head);
    }
    return due;
  }

  nextDue(): number | null {
    return this.#future.first()?.nextRun ?? null;
  }

  /** The first of the due jobs that are wanted. */
  best({ tenant, names, priority, mocked }: Wanted): Slot | null {
    const real = this.#worlds.real.get(tenant)?.best(names, priority) ?? null;
    return mocked ? better(real, this.#worlds.mocked.get(tenant)?.best(names, priority) ?? null) : real;
  }

  /** The due jobs of one type: how many, and since when the oldest is due. */
  readyOf(tenant: string, name: string): { readonly ready: number; readonly oldestDue: number | null } {
    const queue = this.#worlds.real.get(tenant)?.queue(name);
    return { ready: queue?.size ?? 0, oldestDue: queue?.oldestDue() ?? null };
  }

  /** Types with due jobs, in the order of their turns inside a tenant. Mocked ones are for nobody who does not ask for them by name. */
  waitingTypes(): readonly WaitingType[] {
    const types: WaitingType[] = [];
    for (const [tenant, names] of this.#worlds.real)
      for (const queue of names.turns.next(-Infinity)) {
        const type = typeOf(tenant, queue);
        if (type !== null) types.push(type);
      }
    return types;
  }

  /** Of each tenant the first so many that are wanted: what comes after them has its turn later. */
  turns({ most, isWanted, agedBefore }: TurnsAsked): readonly WaitingType[] {
    const types: WaitingType[] = [];
    for (const [tenant, names] of this.#worlds.real) {
      const found = new Map<string, WaitingType>();
      for (const queue of names.turns.next(agedBefore)) {
        const type = found.has(queue.name) ? null : typeOf(tenant, queue);
        if (type !== null && isWanted(type)) found.set(queue.name, type);
        if (found.size >= most) break;
      }
      for (const type of found.values()) types.push(type);
    }
    return types;
  }

  #removeDue(slot: Slot): void {
    const tenants = slot.mock ? this.#worlds.mocked : this.#worlds.real;
    const names = tenants.get(slot.tenant);
    names?.remove(slot);
    if (names?.size === 0) tenants.delete(slot.tenant);
  }
}

function typeOf(tenant: string, queue: NameQueue): WaitingType | null {
  const first = queue.first(null);
  if (first === null) return null;
  return { tenant, name: queue.name, count: queue.size, priority: first.priority, since: first.nextRun };
}
