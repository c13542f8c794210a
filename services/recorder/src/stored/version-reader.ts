import type { StoredVersion } from "@sluice/inventory";

export type ReadVersion =
  | { readonly kind: "read"; readonly version: StoredVersion }
  /** Not there, or not now: it may be later. */
  | { readonly kind: "unavailable"; readonly message: string }
  | { readonly kind: "damaged"; readonly message: string };

/** A store to read from, chosen by STORAGE_URL. */
export interface VersionReader {
  read(manifestUrl: string): Promise<ReadVersion>;
}
