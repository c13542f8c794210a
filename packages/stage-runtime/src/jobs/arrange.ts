/** The order in which one of several workers looks at the entries of a queue, by their positions in it. Pure. */
import type { TierOf } from "./tier.ts";

/** In order of priority and age. */
export interface Sorted {
  readonly length: number;
  priorityAt(position: number): number;
}

export interface Arrangement {
  /** Falls to this worker's part. */
  readonly isOwn: (position: number) => boolean;
  /** Was there in a list a second or more ago, so that its proper worker has had its chance. */
  readonly isLeftOver: (position: number) => boolean;
  /** Has waited for longer than a day. */
  readonly isOverdue: (position: number) => boolean;
  readonly random: () => number;
}

/** Of the others' entries only the first ones matter: whoever gets to their end lists again anyway. */
const OTHERS_MAX = 500;
/** So many neighbours in age are mixed: several workers must not all want the same job. */
const MIXED = 16;
/** At equal priority one of so many is a left-over: were it more, all workers of a busy stage would want the oldest jobs. */
const ONE_OF = 8;

/**
 * First what is overdue. Then our part, smallest priority first, and with it what others left over, by priority and age.
 * What others have only just got is left to them. A tier has one priority; in those of our own part collections take turns.
 */
export function arrange(queue: Sorted, view: Arrangement): readonly TierOf<number>[] {
  const overdue: number[] = [];
  const own: number[] = [];
  const leftOver: number[] = [];
  for (let at = 0; at < queue.length; at++) {
    if (view.isOverdue(at)) overdue.push(at);
    else if (view.isOwn(at)) own.push(at);
    else if (leftOver.length < OTHERS_MAX && view.isLeftOver(at)) leftOver.push(at);
  }
  const others = tiersOf(queue, mixed(queue, leftOver, view.random), false);
  return [...tiersOf(queue, overdue, true), ...merged(tiersOf(queue, own, true), others)];
}

interface EntryTier extends TierOf<number> {
  readonly priority: number;
}

/** `positions` are in order of priority. */
function tiersOf(queue: Sorted, positions: readonly number[], takesTurns: boolean): readonly EntryTier[] {
  const tiers: { readonly priority: number; readonly items: number[]; readonly takesTurns: boolean }[] = [];
  for (const at of positions) {
    const priority = queue.priorityAt(at);
    const last = tiers.at(-1);
    if (last?.priority === priority) last.items.push(at);
    else tiers.push({ priority, items: [at], takesTurns });
  }
  return tiers;
}

/** By priority and age, but in no order among neighbours. */
function mixed(queue: Sorted, positions: readonly number[], random: () => number): readonly number[] {
  return positions
    .map((at, i) => ({ at, priority: queue.priorityAt(at), block: Math.floor(i / MIXED), chance: random() }))
    .sort((a, b) => a.priority - b.priority || a.block - b.block || a.chance - b.chance)
    .map(({ at }) => at);
}

/** Both are in order of priority. */
function merged(own: readonly EntryTier[], others: readonly EntryTier[]): readonly EntryTier[] {
  const all: EntryTier[] = [];
  let next = 0;
  for (const tier of own) {
    for (let other = others[next]; other !== undefined && other.priority < tier.priority; other = others[next]) {
      all.push(other);
      next += 1;
    }
    const equal = others[next]?.priority === tier.priority ? others[next++] : undefined;
    if (equal === undefined) all.push(tier);
    else for (const each of woven(tier, equal)) all.push(each);
  }
  return [...all, ...others.slice(next)];
}

/** Left-overs that are older than what of ours stands beside them; the rest comes after ours. */
function woven(own: EntryTier, others: EntryTier): readonly EntryTier[] {
  const items: number[] = [];
  let next = 0;
  for (const [i, at] of own.items.entries()) {
    const other = others.items[next];
    if (i % (ONE_OF - 1) === 0 && other !== undefined && other < at) {
      items.push(other);
      next += 1;
    }
    items.push(at);
  }
  const rest = others.items.slice(next);
  return [{ ...own, items }, ...(rest.length === 0 ? [] : [{ ...others, items: rest }])];
}
