import type { StoredVersion } from "../stored/stored-version.ts";

/** The inventory database. */
export interface Inventory {
  /**
   * Records a version in one transaction. Idempotent by (ARK, version number): what is recorded stays as it is.
   * `beforeCommit` runs inside the transaction; if it throws, nothing was recorded.
   */
  record(version: StoredVersion, beforeCommit: () => Promise<void>): Promise<RecordResult>;
  close(): Promise<void>;
}

export type RecordResult =
  | { readonly kind: "recorded" }
  /** By an earlier run. */
  | { readonly kind: "already" }
  /** A local id of the version is another object's. */
  | { readonly kind: "conflict"; readonly message: string }
  | { readonly kind: "refused"; readonly message: string }
  /** Locked, full, away: it may work later. */
  | { readonly kind: "unavailable"; readonly message: string };
