import type { ObjectStore } from "./object-store.ts";
import { openOcflStore } from "./ocfl/ocfl-store.ts";

export interface StorageUrl {
  readonly kind: "ocfl";
  readonly folder: string;
}

/** Null: not a store that we know. Merritt's storage service over HTTP will be another kind. */
export function parseStorageUrl(url: string): StorageUrl | null {
  const folder = /^ocfl:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  return folder === undefined ? null : { kind: "ocfl", folder };
}

export const openStore = (url: StorageUrl, nowMs: number): Promise<ObjectStore> => openOcflStore(url.folder, nowMs);
