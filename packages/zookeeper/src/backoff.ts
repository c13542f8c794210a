/** Full jitter: a fleet that lost its server at one moment must not come back at one moment. */
export interface Backoff {
  readonly firstMs: number;
  readonly maxMs: number;
}

export const USUAL_BACKOFF: Backoff = { firstMs: 200, maxMs: 10_000 };
export const FLAPPING_BACKOFF: Backoff = { firstMs: 10_000, maxMs: 60_000 };

/** `chance` in [0, 1); never 0 ms, so that no failure, however quick, makes a busy loop. */
export function backoffMs({ firstMs, maxMs }: Backoff, failures: number, chance: number): number {
  const ceiling = Math.min(maxMs, firstMs * 2 ** Math.min(failures, 30));
  return Math.ceil(ceiling * (0.1 + 0.9 * chance));
}
