import type { Egress } from "@sluice/safe-io";
import { merrittStore } from "./merritt/merritt-store.ts";
import type { ObjectStore } from "./object-store.ts";
import { openOcflStore } from "./ocfl/ocfl-store.ts";

export type StorageUrl =
  { readonly kind: "ocfl"; readonly folder: string } | { readonly kind: "merritt"; readonly base: string };

export const STORAGE_URL_FORMS = "ocfl:FOLDER or merritt+http(s)://HOST/PATH";

/** Null: not a store that we know. */
export function parseStorageUrl(url: string): StorageUrl | null {
  const base = /^merritt\+(https?:\/\/.+?)\/*$/.exec(url)?.[1];
  if (base !== undefined) return URL.canParse(base) && new URL(base).username === "" ? { kind: "merritt", base } : null;
  const folder = /^ocfl:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  return folder === undefined ? null : { kind: "ocfl", folder };
}

export interface StoreOptions {
  readonly nowMs: number;
  readonly egress: Egress;
  readonly urlOf: (path: string) => string;
}

export async function openStore(url: StorageUrl, { nowMs, egress, urlOf }: StoreOptions): Promise<ObjectStore> {
  return url.kind === "ocfl" ? openOcflStore(url.folder, nowMs) : merrittStore({ base: url.base, egress, urlOf });
}
