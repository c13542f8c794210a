/** An object version as its store tells it: all that the inventory wants to know. */
import type { Erc, IngestFile, Mom } from "@sluice/ingest-formats";

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
}

export interface StoredFile {
  /** `producer/…` or `system/…`. */
  readonly path: string;
  readonly bytes: number;
  /** 0 for content that an earlier version brought. */
  readonly billableBytes: number;
  readonly mimeType: string;
  /** As Merritt writes it: `sha-256`. */
  readonly digestType: string;
  readonly digestValue: string;
}
