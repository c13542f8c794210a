/** The services' logs, kept from filling the disk: a file that has grown too large is set aside, and begins anew. */
import { copyFile, rename, stat, truncate } from "node:fs/promises";

export interface LogBounds {
  readonly maxBytes: number;
  /** Older files, as FILE.1 (the youngest), FILE.2, … */
  readonly kept: number;
}

export const LOG_BOUNDS: LogBounds = { maxBytes: 50_000_000, kept: 2 };
const LOOK_EVERY_MS = 30_000;

/**
 * The service has the file open to append and knows nothing of this: the file is copied and emptied, not renamed. What is
 * written between the two, a line or two at most, is lost.
 */
export async function boundLog(file: string, { maxBytes, kept }: LogBounds): Promise<boolean> {
  const size = (await stat(file).catch(() => null))?.size ?? 0;
  if (size <= maxBytes) return false;
  for (let i = kept; i > 1; i--) await rename(`${file}.${i - 1}`, `${file}.${i}`).catch(ignoreMissing);
  await copyFile(file, `${file}.1`);
  await truncate(file);
  return true;
}

function ignoreMissing(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}

/** Looks now and again until told to stop. A log that cannot be set aside is said, and tried again. */
export function keepLogsBounded(
  files: readonly string[],
  say: (line: string) => void,
  bounds = LOG_BOUNDS,
): () => void {
  let looking = Promise.resolve();
  const look = async (): Promise<void> => {
    for (const file of files) {
      await boundLog(file, bounds).catch((error: unknown) => say(`${file} cannot be set aside: ${String(error)}`));
    }
  };
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, LOOK_EVERY_MS);
  timer.unref();
  return () => clearInterval(timer);
}
