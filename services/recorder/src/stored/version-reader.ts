import type { StoredVersion } from "@sluice/inventory";

/** Not there, or not now: it may be later. Or there, and not what it should be. */
export type NotRead =
  { readonly kind: "unavailable"; readonly message: string } | { readonly kind: "damaged"; readonly message: string };

export type ReadVersion = { readonly kind: "read"; readonly version: StoredVersion } | NotRead;

export const unavailable = (message: string): NotRead => ({ kind: "unavailable", message });
export const damaged = (message: string): NotRead => ({ kind: "damaged", message });

export interface ReadFor {
  /** The UUID of the job that stored the version. */
  readonly job: string;
  readonly signal: AbortSignal;
}

/** A store to read from, chosen by STORAGE_URL. */
export interface VersionReader {
  read(manifestUrl: string, reader: ReadFor): Promise<ReadVersion>;
}
