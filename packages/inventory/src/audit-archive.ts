/** The audit of operators' actions behind its anchor, as text: the archive keeps what it is given and judges nothing. */
import type { Found, Refused, Unavailable } from "./inventory.ts";

export interface ArchivedAudit {
  readonly number: number;
  /** SHA-256 of the record's bytes, in hex. */
  readonly hash: string;
  /** The record's bytes. */
  readonly record: string;
}

export interface ArchivedAnchor {
  readonly number: number;
  /** Of record `number`. */
  readonly hash: string;
  /** The signed anchor, as JSON. */
  readonly anchor: string;
}

/** Records that the tree of before a restore had: they are kept, and are no part of the chain any more. */
export interface LeftAudit {
  readonly records: number;
  readonly first: number;
  readonly last: number;
}

export type AuditKept =
  /** `left`: how many records of another past were found in their place. */
  { readonly kind: "kept"; readonly added: number; readonly left: number } | Refused | Unavailable;

export interface AuditPageWish {
  /** Rising numbers behind this one, … */
  readonly after?: number;
  /** … or falling ones before this one. */
  readonly before?: number;
  readonly limit: number;
}

export interface AuditArchive {
  /** The last record of the chain. */
  auditEnd(): Promise<Found<ArchivedAudit>>;
  /** Records that follow each other, in order. May be repeated. `at`: when. */
  keepAudit(records: readonly ArchivedAudit[], at: string): Promise<AuditKept>;
  /** Which of these it has in its chain. */
  knownAudit(hashes: readonly string[]): Promise<Found<ReadonlySet<string>>>;
  /** May be repeated. */
  keepAuditAnchor(anchor: ArchivedAnchor): Promise<AuditKept>;
  /** Of the chain. */
  listAudit(wish: AuditPageWish): Promise<Found<readonly ArchivedAudit[]>>;
  /** By number, rising, after the one given. */
  listAuditAnchors(after: number, limit: number): Promise<Found<readonly ArchivedAnchor[]>>;
  leftAudit(): Promise<Found<LeftAudit>>;
}
