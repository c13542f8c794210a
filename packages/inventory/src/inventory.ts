import type { Belonging } from "@sluice/ingest-formats";
import type { ArchivedBatch, ArchivedJob, BatchToArchive } from "./archive.ts";
import type { AuditArchive } from "./audit-archive.ts";
import type { StoredVersion } from "./stored-version.ts";

/** The inventory database. Its answers are values; nothing that a database says is thrown. */
export interface Inventory extends AuditArchive {
  /**
   * Records a version in one transaction. Idempotent by (ARK, version number): what is recorded stays as it is.
   * `beforeCommit` runs inside the transaction, again with each try; if it throws, nothing was recorded.
   */
  record(version: StoredVersion, beforeCommit?: () => Promise<void>): Promise<RecordResult>;
  /** Which object an owner's names stand for. */
  findLocalIds(ownerArk: string, localIds: readonly string[]): Promise<LocalIdAnswer>;
  /** Says it, before the object is stored: whoever asks next finds it. All names or none; idempotent. */
  registerLocalIds(claim: LocalIdClaim): Promise<RegisterResult>;
  /** All names that an owner has for an object, oldest first. */
  localIdsOf(ownerArk: string, ark: string): Promise<LocalIdList>;
  /** Whose a recorded object is. */
  belongingOf(ark: string): Promise<Found<Belonging>>;
  /** Keeps what the queue is about to forget. May be repeated: what is archived again is overwritten, never removed. */
  archiveBatch(batch: BatchToArchive): Promise<ArchiveResult>;
  /** By number (bid…) or name outside (bid-UUID). */
  findArchivedBatch(id: string): Promise<Found<ArchivedBatch>>;
  /** By number (jid…) or name outside (jid-UUID). */
  findArchivedJob(id: string): Promise<Found<ArchivedJob>>;
  /** A page of an archived batch's jobs, by number, after the one given. */
  listArchivedJobs(batch: ArchivedBatch, page: ArchivePage): Promise<Found<readonly ArchivedJob[]>>;
  /** How many versions jobs of a batch have recorded, by the batch's number (bid…). */
  recordedOf(batch: string): Promise<Found<number>>;
  /** The same for all batches with versions that were stored since then (RFC 3339). */
  recordedSince(since: string): Promise<Found<readonly RecordedBatch[]>>;
  /** Which fleet's it is. */
  readonly stamp: InventoryStamp;
  close(): Promise<void>;
}

/** As every part that holds state of a fleet has it. */
export interface InventoryStamp {
  readonly name: string;
  read(): Promise<
    { readonly kind: "read"; readonly stamp: FleetStamp | null } | { readonly kind: "away"; readonly why: string }
  >;
  write(stamp: FleetStamp): Promise<void>;
  /** It was found to be this fleet's. */
  open(): void;
}

export interface FleetStamp {
  readonly fleet: string;
  readonly epoch: number;
}

/** Locked, full, away: it may work later. */
export interface Unavailable {
  readonly kind: "unavailable";
  readonly message: string;
}

/** The database understood and said no: the same again will not help. */
export interface Refused {
  readonly kind: "refused";
  readonly message: string;
}

export interface NameConflict {
  readonly kind: "conflict";
  /** The names to blame. */
  readonly localIds: readonly string[];
  /** For the log only: it names objects that whoever asked may not know. */
  readonly message: string;
}

export type RecordResult =
  | { readonly kind: "recorded" }
  /** By an earlier run. */
  | { readonly kind: "already" }
  /** The object is another owner's or collection's. */
  | { readonly kind: "foreign"; readonly message: string }
  /** A local id of the version is another object's. */
  | NameConflict
  | Refused
  | Unavailable;

export type LocalIdAnswer =
  | { readonly kind: "none" }
  | { readonly kind: "found"; readonly ark: string }
  /** The names stand for different objects. */
  | NameConflict
  | Unavailable;

export interface LocalIdClaim {
  readonly ownerArk: string;
  readonly ark: string;
  readonly localIds: readonly string[];
  /** RFC 3339. */
  readonly created: string;
}

export type RegisterResult =
  | { readonly kind: "registered" }
  /** One of the names is another object's. */
  | NameConflict
  | Refused
  | Unavailable;

export type LocalIdList = { readonly kind: "listed"; readonly localIds: readonly string[] } | Unavailable;

export type ArchiveResult = { readonly kind: "archived"; readonly jobs: number } | Refused | Unavailable;

export type Found<T> = { readonly kind: "found"; readonly value: T } | { readonly kind: "none" } | Unavailable;

export interface RecordedBatch {
  /** bid… */
  readonly batch: string;
  readonly versions: number;
}

export interface ArchivePage {
  readonly after?: string;
  readonly limit: number;
}
