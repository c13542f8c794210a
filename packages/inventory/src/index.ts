export type { ArchivedBatch, ArchivedJob, BatchToArchive, JsonObject } from "./archive.ts";
export type {
  ArchivedAnchor,
  ArchivedAudit,
  AuditArchive,
  AuditKept,
  AuditPageWish,
  LeftAudit,
} from "./audit-archive.ts";
export {
  APPLICABILITIES,
  type Applicability,
  type DataUseAgreement,
  type Obligation,
  OBLIGATIONS,
  type Persistence,
  PERSISTENCES,
} from "./data-use.ts";
export type {
  ArchivePage,
  ArchiveResult,
  Found,
  Inventory,
  InventoryStamp,
  LocalIdAnswer,
  LocalIdClaim,
  LocalIdList,
  RecordResult,
  Refused,
  RegisterResult,
  Unavailable,
} from "./inventory.ts";
export {
  INVENTORY_URL_FORMS,
  type InventoryUrl,
  type MySqlUrl,
  parseInventoryUrl,
  type SqliteUrl,
} from "./inventory-url.ts";
export { openInventory } from "./open-inventory.ts";
export type { MetadataSchema, StoredFile, StoredMetadata, StoredVersion } from "./stored-version.ts";
