/** Delays between the attempts of one stage: 1 s, 4 s, 16 s … up to 5 min, with full jitter. */
export const RETRY_FIRST_MS = 1_000;
export const RETRY_FACTOR = 4;
export const RETRY_MAX_MS = 5 * 60_000;

/** `attempt` counts from 1; `chance` in [0, 1). Full jitter: jobs that failed together do not come back together. */
export function retryDelayMs(attempt: number, chance: number): number {
  const ceiling = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * RETRY_FACTOR ** Math.max(0, Math.min(attempt - 1, 30)));
  return Math.ceil(ceiling * chance);
}
