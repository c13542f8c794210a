/** An object version as its store tells it: all that the inventory wants to know. */
import type { Erc, IngestFile, Mom } from "@sluice/ingest-formats";
import type { DataUseAgreement } from "./data-use.ts";

export interface StoredVersion {
  readonly ark: string;
  readonly number: number;
  /** RFC 3339. */
  readonly created: string;
  readonly note: string;
  readonly manifestUrl: string;
  readonly files: readonly StoredFile[];
  readonly owner: string;
  readonly collections: readonly string[];
  readonly mom: Mom;
  readonly erc: Erc;
  readonly ingest: IngestFile;
  /** ISO 8601 as the producer wrote it, UTC where it names no zone; null without an embargo. */
  readonly embargoEndDate: string | null;
  readonly dataUse: DataUseAgreement | null;
  readonly metadata: readonly StoredMetadata[];
}

export interface StoredFile {
  /** `producer/…` or `system/…`. */
  readonly path: string;
  readonly bytes: number;
  /** The content came with this version: it is billed and audited with it, not with those that keep it. */
  readonly isNew: boolean;
  /** Where whoever audits the content finds it. */
  readonly contentUrl: string;
  readonly mimeType: string;
  /** As Merritt writes it: `sha-256`. */
  readonly digestType: string;
  readonly digestValue: string;
}

export type MetadataSchema = "DataCite" | "DublinCore" | "CSDGM" | "EML" | "OAI_DublinCore" | "StashWrapper";

/** A file of the producer's that describes the object in a known schema. */
export interface StoredMetadata {
  readonly path: string;
  readonly schema: MetadataSchema;
  /** Of the schema; null where Merritt gives none. */
  readonly schemaVersion: string | null;
  /** Null for a file that is too long for a row, or no UTF-8: it is in the store. */
  readonly value: string | null;
}
