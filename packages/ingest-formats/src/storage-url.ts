/** STORAGE_URL: which kind of store, and where. The processor writes to it, the recorder reads from it. */

export type StorageUrl =
  { readonly kind: "ocfl"; readonly folder: string } | { readonly kind: "merritt"; readonly base: string };

export const STORAGE_URL_FORMS = "ocfl:FOLDER or merritt+http(s)://HOST/PATH";

/** Null: not a store that we know. */
export function parseStorageUrl(url: string): StorageUrl | null {
  const base = /^merritt\+(https?:\/\/.+)$/.exec(url.replace(/(?<!\/)\/+$/, ""))?.[1];
  if (base !== undefined) return URL.canParse(base) && new URL(base).username === "" ? { kind: "merritt", base } : null;
  const folder = /^ocfl:(?:\/\/(?=\/))?(.+)$/.exec(url)?.[1];
  return folder === undefined ? null : { kind: "ocfl", folder };
}
