export { describeProblem, type FormatProblem, type Parsed, type ParseFailure, type ParseOk } from "./problem.ts";
export { DIGEST_ALGORITHMS, DIGEST_HEX_LENGTH, parseDigest, parseDigestAlgorithm } from "./digest.ts";
export type { Digest, DigestAlgorithm } from "./digest.ts";
export { mergeLocalIds, parseLocalIds, printLocalIds } from "./local-ids.ts";
export { type Ark, arkLockName, isArk, parseArk, parseObjectArk, printArk } from "./ark.ts";
export { hasValidCheckCharacter, mintNoidArk, noidCapacity, noidCheckCharacter, type NoidTemplate } from "./noid.ts";
export { batchPriority, clampPriority, PRIORITY_FIRST, PRIORITY_LAST } from "./priority.ts";
export { type AnvlElement, parseAnvl, printAnvl, UNASSIGNED } from "./anvl.ts";
export { type Erc, isUnassigned, parseErc, printErc } from "./erc.ts";
export { DUBLIN_CORE_ELEMENTS, escapeXml, mergeDublinCore, parseDublinCore, printDublinCore } from "./dublin-core.ts";
export type { DublinCore, DublinCoreElement } from "./dublin-core.ts";
export { type DataCite, parseDataCite } from "./datacite.ts";
export { type Embargo, parseEmbargo } from "./embargo.ts";
export { parseDeleteList } from "./delete-list.ts";
export { readXml, type XmlElement } from "./xml.ts";
export { type ObjectInfo, type ObjectInfoFile, type ObjectInfoVersion, parseObjectInfo } from "./object-info.ts";
export { parseStorageUrl, STORAGE_URL_FORMS, type StorageUrl } from "./storage-url.ts";
export {
  INGEST_FILE_KEYS,
  type IngestFile,
  type IngestFileKey,
  parseIngestFile,
  printIngestFile,
} from "./ingest-file.ts";
export { AGGREGATE_TYPES, OBJECT_ROLES, OBJECT_TYPES, parseMom, printMom } from "./mom.ts";
export { parseMembership, parseOwner, printMembership, printOwner } from "./mom.ts";
export type { AggregateType, Mom, ObjectRole, ObjectType } from "./mom.ts";
export {
  detectPayloadType,
  isBatchType,
  isContainerName,
  manifestKindOf,
  parsePayloadType,
  PAYLOAD_TYPES,
  type PayloadType,
  ROW_PAYLOAD_TYPE,
} from "./payload-type.ts";
export { type Belonging, collectionsOfNext, mayChange, type Writer } from "./belonging.ts";
export { isProfileId, type NotificationSuppression, parseProfile, type Profile, type ProfileOk } from "./profile.ts";
export { kindOfHead, MANIFEST_KINDS, type ManifestKind } from "./checkm/kinds.ts";
export type { ManifestMode } from "./checkm/header.ts";
export type { ManifestSource } from "./checkm/lines.ts";
export type { ManifestRow } from "./checkm/row.ts";
export { type ManifestEvent, type ManifestOptions, readManifest } from "./checkm/reader.ts";
export { manifestRows, parseManifest, validateManifest } from "./checkm/manifest.ts";
export type { Manifest, ManifestFailure, ManifestSummary, ValidationOptions } from "./checkm/manifest.ts";
export { escapeFileName, unescapeFileName } from "./checkm/file-names.ts";
export { printManifest, printStorageManifest } from "./checkm/print.ts";
export type { PrintableRow, StorageManifestFile } from "./checkm/print.ts";
