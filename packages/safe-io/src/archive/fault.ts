import { faultOfDiskError } from "../disk/fault.ts";
import { visibleName } from "../disk/names.ts";
import { IoError, type IoFault } from "../outcome.ts";

export const refused = (entry: string, why: string): IoFault => blame("ARCHIVE_REFUSED", entry, why);

export const corrupt = (entry: string, why: string): IoFault => blame("ARCHIVE_CORRUPT", entry, why);

export const givenUp = (entry: string): IoFault => blame("ABORTED", entry, "given up");

export const tookTooLong = (entry: string, maxMs: number, files: number): IoFault =>
  blame(
    "ARCHIVE_TIMEOUT",
    entry,
    `unpacking took longer than the ${Math.round(maxMs / 1_000)} s that are allowed, with ${files} files unpacked; ` +
      "submit the content as several smaller containers",
  );

/** Without an entry: the container as a whole. */
const blame = (code: IoFault["code"], entry: string, why: string): IoFault => ({
  code,
  message: entry === "" ? why : `${visibleName(entry)}: ${why}`,
  retryable: false,
});

/** What was thrown while an entry was read: ours, the disk's, or what a reader says of a damaged container. */
export function faultOfArchiveError(error: unknown, entry: string): IoFault {
  if (error instanceof IoError) return error.fault;
  if (typeof error === "object" && error !== null && "syscall" in error) return faultOfDiskError(error, entry);
  return corrupt(entry, typeof error === "object" && error !== null && "message" in error ? String(error.message) : "");
}
