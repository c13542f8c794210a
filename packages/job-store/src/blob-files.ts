/** How blobs are called on disk. */
import { readdir } from "node:fs/promises";

/** Nothing younger is swept. */
export const GRACE_MS = 3_600_000;
/** What is put again and is younger is not written again: it has most of its hour before it. */
export const FRESH_MS = GRACE_MS / 4;

/** Where a sweep puts what it is about to remove. */
export const DOOMED = "doomed";

const NAME = /^[0-9a-f]{64}$/;
export const isBlobName = (name: string): boolean => NAME.test(name);

/** Two digits first: a folder of all blobs would be large. */
export const blobName = (sha256: string): string => `${sha256.slice(0, 2)}/${sha256}`;

/** A sweep's own name for it, so that two sweeps do not meet. */
export const doomedName = (sha256: string, sweep: string): string => `${sha256}.${sweep}`;
export const blobOfDoomed = (name: string): string => name.slice(0, 64);

export async function doomedCopies(folder: string, sha256: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => blobOfDoomed(name) === sha256);
}
