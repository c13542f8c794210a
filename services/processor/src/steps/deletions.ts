/** mrt-delete.txt of an update: it says what to leave out, and is itself ours to keep, not one of the object's files. */
import { parseDeleteList } from "@sluice/ingest-formats";
import type { StoreMode } from "../store/object-store.ts";
import type { VerifiedFile } from "./fixity.ts";
import type { ReservedFiles } from "./reserved-files.ts";

export interface Deletions {
  /** Logical paths, `producer/…`. */
  readonly paths: readonly string[];
  /** As it was deposited; null if there is none. */
  readonly list: string | null;
  readonly producer: readonly VerifiedFile[];
}

/** Where there is nothing to delete from, the file is a file. */
export function deletionsOf(mode: StoreMode, files: ReservedFiles, producer: readonly VerifiedFile[]): Deletions {
  const list = mode === "update" ? (files.get("mrt-delete.txt") ?? null) : null;
  if (list === null) return { paths: [], list, producer };
  return { paths: parseDeleteList(list), list, producer: producer.filter(({ name }) => name !== "mrt-delete.txt") };
}
