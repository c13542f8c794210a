import { ocflReader } from "./ocfl-reader.ts";
import type { VersionReader } from "./version-reader.ts";

export interface StorageUrl {
  readonly kind: "ocfl";
  readonly folder: string;
}

/** Null: not a store that we know. */
export function parseStorageUrl(url: string): StorageUrl | null {
  const folder = /^ocfl:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  return folder === undefined ? null : { kind: "ocfl", folder };
}

export const openReader = (url: StorageUrl): VersionReader => ocflReader(url.folder);
