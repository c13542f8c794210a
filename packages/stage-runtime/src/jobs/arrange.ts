/** The order in which one of several workers looks at the entries of a queue. Pure. */
import type { QueueEntry } from "@sluice/queue-core";
import type { TierOf } from "./turns.ts";

export interface Arrangement {
  /** Falls to this worker's part. */
  readonly isOwn: (entry: QueueEntry) => boolean;
  /** Was there in a list a second or more ago, so that its proper worker has had its chance. */
  readonly isLeftOver: (entry: QueueEntry) => boolean;
  /** Has waited for longer than a day. */
  readonly isOverdue: (entry: QueueEntry) => boolean;
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
export function arrange(sorted: readonly QueueEntry[], view: Arrangement): readonly TierOf<QueueEntry>[] {
  const overdue: QueueEntry[] = [];
  const own: QueueEntry[] = [];
  const leftOver: QueueEntry[] = [];
  for (const entry of sorted) {
    if (view.isOverdue(entry)) overdue.push(entry);
    else if (view.isOwn(entry)) own.push(entry);
    else if (leftOver.length < OTHERS_MAX && view.isLeftOver(entry)) leftOver.push(entry);
  }
  return [...tiersOf(overdue, true), ...merged(tiersOf(own, true), tiersOf(mixed(leftOver, view.random), false))];
}

interface EntryTier extends TierOf<QueueEntry> {
  readonly priority: number;
}

/** `entries` are in order of priority. */
function tiersOf(entries: readonly QueueEntry[], takesTurns: boolean): readonly EntryTier[] {
  const tiers: { readonly priority: number; readonly items: QueueEntry[]; readonly takesTurns: boolean }[] = [];
  for (const entry of entries) {
    const last = tiers.at(-1);
    if (last?.priority === entry.priority) last.items.push(entry);
    else tiers.push({ priority: entry.priority, items: [entry], takesTurns });
  }
  return tiers;
}

/** By priority and age, but in no order among neighbours. */
function mixed(entries: readonly QueueEntry[], random: () => number): readonly QueueEntry[] {
  return entries
    .map((entry, i) => ({ entry, block: Math.floor(i / MIXED), chance: random() }))
    .sort((a, b) => a.entry.priority - b.entry.priority || a.block - b.block || a.chance - b.chance)
    .map(({ entry }) => entry);
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
  const items: QueueEntry[] = [];
  let next = 0;
  for (const [i, entry] of own.items.entries()) {
    const other = others.items[next];
    if (i % (ONE_OF - 1) === 0 && other !== undefined && other.id < entry.id) {
      items.push(other);
      next += 1;
    }
    items.push(entry);
  }
  const rest = others.items.slice(next);
  return [{ ...own, items }, ...(rest.length === 0 ? [] : [{ ...others, items: rest }])];
}
