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

/**
 * First what is overdue. Then our part, smallest priority first; what others left over is taken where its priority is
 * smaller than anything of ours. Last, when our part is dry, what others have only just got. A tier has one priority; in
 * those of our own part collections take turns.
 */
export function arrange(sorted: readonly QueueEntry[], view: Arrangement): readonly TierOf<QueueEntry>[] {
  const overdue: QueueEntry[] = [];
  const own: QueueEntry[] = [];
  const leftOver: QueueEntry[] = [];
  const others: QueueEntry[] = [];
  for (const entry of sorted) {
    if (view.isOverdue(entry)) overdue.push(entry);
    else if (view.isOwn(entry)) own.push(entry);
    else (view.isLeftOver(entry) ? leftOver : others).push(entry);
  }
  return [
    ...tiersOf(overdue, true),
    ...merged(tiersOf(own, true), tiersOf(mixed(leftOver, view.random), false)),
    ...tiersOf(mixed(others, view.random), false),
  ];
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

/** By priority, and in no order within one: several workers without work of their own must not all want the same job. */
function mixed(entries: readonly QueueEntry[], random: () => number): readonly QueueEntry[] {
  return entries
    .slice(0, OTHERS_MAX)
    .map((entry) => ({ entry, chance: random() }))
    .sort((a, b) => a.entry.priority - b.entry.priority || a.chance - b.chance)
    .map(({ entry }) => entry);
}

/** Both are in order of priority; at equal priority our own come first. */
function merged(own: readonly EntryTier[], others: readonly EntryTier[]): readonly EntryTier[] {
  const all: EntryTier[] = [];
  let next = 0;
  for (const tier of own) {
    for (let other = others[next]; other !== undefined && other.priority < tier.priority; other = others[next]) {
      all.push(other);
      next += 1;
    }
    all.push(tier);
  }
  return [...all, ...others.slice(next)];
}
