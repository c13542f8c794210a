/**
 * Rendezvous hashing: who of the living workers should look at an item first. When a worker comes or goes only its own
 * items change hands, and no two workers fight for the same claim.
 */

/** FNV-1a with a final mix (so that ids differing in one digit spread), 32 bits: plenty for a handful of workers. */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export function ownerOf(item: string, workers: readonly string[]): string | null {
  let best: string | null = null;
  let bestScore = -1;
  for (const worker of workers) {
    const score = hash(`${worker}/${item}`);
    if (score > bestScore || (score === bestScore && best !== null && worker < best))
      [best, bestScore] = [worker, score];
  }
  return best;
}

/**
 * A queue is shared out in so many parts, not entry by entry: who has a part is worked out once for a set of workers, and an
 * entry costs one hash however many workers there are. Sixty workers have parts of equal size within a tenth or so.
 */
export const SHARES = 4_096;

/** Which part an item belongs to: from 0 to SHARES - 1. */
export const shareOf = (item: string): number => hash(item) % SHARES;

export const ownerOfShare = (share: number, workers: readonly string[]): string | null =>
  ownerOf(String(share), workers);
