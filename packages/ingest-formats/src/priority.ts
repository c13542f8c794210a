/** 0 is served first, 99 last: two digits is all that a queue entry has. */
export const PRIORITY_FIRST = 0;
export const PRIORITY_LAST = 99;

/** Call it after every change: penalties add up, and a three-digit priority would sort wrongly. */
export const clampPriority = (priority: number): number =>
  Number.isNaN(priority) ? PRIORITY_LAST : Math.min(PRIORITY_LAST, Math.max(PRIORITY_FIRST, Math.trunc(priority)));

/** Merritt's formula: a lone object gets 5, a thousand 74; the profile's `Priority` takes precedence. */
export function batchPriority(batchSize: number, override?: number): number {
  return clampPriority(override ?? Math.log(Math.max(1, batchSize)) * 10 + 5);
}
