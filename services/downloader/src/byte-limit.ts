export interface ByteLimits {
  /** No file may be larger, whatever anybody says. */
  readonly fileMaxBytes: number;
  /** How far above the whole job's estimate a file may go before it is cut off. */
  readonly overrunFactor: number;
  /** Estimates are rough where files are small: up to here no file is cut off for being above the estimate. */
  readonly overrunFloorBytes: number;
}

/**
 * How many bytes a file of undeclared size may have: a server that announced 1 KB must not fill the volume. Where nothing
 * was estimated the general limit holds, and the room that the volume has (volume-guard.ts).
 */
export function byteLimit(estimatedJobBytes: number, limits: ByteLimits): number {
  if (estimatedJobBytes === 0) return limits.fileMaxBytes;
  const allowed = Math.max(estimatedJobBytes * limits.overrunFactor, limits.overrunFloorBytes);
  return Math.min(limits.fileMaxBytes, allowed);
}
