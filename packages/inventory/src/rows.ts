/** What a version becomes in the tables. Pure. */
import { createHash } from "node:crypto";
import { printLocalIds } from "@sluice/ingest-formats";
import type { Insertable } from "kysely";
import type { DataUseAgreement } from "./data-use.ts";
import type { StoredFile, StoredMetadata, StoredVersion } from "./stored-version.ts";
import type { InventoryTables } from "./tables.ts";

type Row<T extends keyof InventoryTables> = Insertable<InventoryTables[T]>;

/** Where the profile names no storage node. */
const DEFAULT_NODE = 1;

export const nodeNumber = ({ ingest }: StoredVersion): number => {
  const number = Number(ingest.storageNode);
  return Number.isSafeInteger(number) && number > 0 ? number : DEFAULT_NODE;
};

export const nodeRow = (version: StoredVersion): Row<"inv_nodes"> => ({
  number: nodeNumber(version),
  logical_volume: version.ingest.storageService ?? null,
  base_url: version.ingest.storageService ?? null,
  created: version.created,
});

export const objectRow = (version: StoredVersion, ownerId: number): Row<"inv_objects"> => ({
  inv_owner_id: ownerId,
  ark: version.ark,
  md5_3: createHash("md5").update(version.ark).digest("hex").slice(0, 3),
  object_type: version.mom.type,
  role: version.mom.role,
  aggregate_role: version.mom.aggregate ?? null,
  version_number: version.number,
  ...ercColumns(version),
  created: version.created,
  modified: version.created,
});

export const ercColumns = ({ ark, erc }: StoredVersion) => ({
  erc_who: erc.who ?? null,
  erc_what: erc.what ?? null,
  erc_when: erc.when ?? null,
  erc_where: [ark, ...(erc.localIds.length === 0 ? [] : [printLocalIds(erc.localIds)])].join(" ; "),
});

export const versionRow = (version: StoredVersion, objectId: number): Row<"inv_versions"> => ({
  inv_object_id: objectId,
  ark: version.ark,
  number: version.number,
  note: version.note,
  created: version.created,
});

export interface Parents {
  readonly inv_object_id: number;
  readonly inv_version_id: number;
}

export const fileRow = (file: StoredFile, created: string, parents: Parents): Row<"inv_files"> => ({
  ...parents,
  pathname: file.path,
  source: file.path.startsWith("system/") ? "system" : "producer",
  role: /^(system\/|producer\/mrt-)/.test(file.path) ? "metadata" : "data",
  full_size: file.bytes,
  billable_size: file.isNew ? file.bytes : 0,
  mime_type: file.mimeType,
  digest_type: file.digestType,
  digest_value: file.digestValue,
  created,
});

export const ingestRow = ({ ingest, manifestUrl, created }: StoredVersion, parents: Parents): Row<"inv_ingests"> => ({
  ...parents,
  filename: ingest.file ?? "",
  ingest_type: ingest.type ?? "",
  profile: ingest.profile ?? "",
  batch_id: ingest.batch ?? "",
  job_id: ingest.job ?? "",
  user_agent: ingest.userAgent ?? null,
  submitted: ingest.submissionDate ?? created,
  storage_url: manifestUrl,
});

export function kernelRows({ ark, erc }: StoredVersion, parents: Parents): Row<"inv_dublinkernels">[] {
  const values: [element: string, value: string | undefined, qualifier: string | null][] = [
    ["who", erc.who, null],
    ["what", erc.what, null],
    ["when", erc.when, null],
    ["where", ark, "primary"],
    ...erc.localIds.map((id): [string, string, string] => ["where", id, "local"]),
  ];
  return values
    .flatMap(([element, value, qualifier]) => (value === undefined ? [] : [{ element, value, qualifier }]))
    .map((kernel, position) => ({ ...parents, seq_num: position + 1, ...kernel }));
}

export const metadataRow = (metadata: StoredMetadata, parents: Parents): Row<"inv_metadatas"> => ({
  ...parents,
  filename: metadata.path,
  md_schema: metadata.schema,
  version: metadata.schemaVersion,
  serialization: "xml",
  value: metadata.value,
});

interface Audited extends Parents {
  readonly inv_node_id: number;
  readonly inv_file_id: number;
}

export const auditRow = (file: StoredFile, created: string, audited: Audited): Row<"inv_audits"> => ({
  ...audited,
  url: file.contentUrl,
  status: "unverified",
  created,
});

export const embargoRow = (endDate: string, objectId: number): Row<"inv_embargoes"> => ({
  inv_object_id: objectId,
  embargo_end_date: embargoEnd(endDate),
});

const LAST_SECOND_MS = Date.parse("9999-12-31T23:59:59Z");

/** In UTC and whole seconds, so that texts sort as times do; an embargo ends never too early. */
function embargoEnd(endDate: string): string {
  const text = endDate.toUpperCase();
  const ms = Date.parse(/(?:Z|[+-]\d{2}:\d{2})$/.test(text) ? text : `${text}Z`);
  const second = Math.min(Math.ceil(ms / 1_000) * 1_000, LAST_SECOND_MS);
  return new Date(second).toISOString().replace(".000Z", "Z");
}

export const dataUseRow = (
  dataUse: DataUseAgreement,
  owner: { readonly inv_object_id: number; readonly inv_collection_id: number | null },
): Row<"inv_duas"> => ({
  ...owner,
  identifier: dataUse.identifier,
  title: dataUse.title,
  terms: dataUse.terms,
  template: dataUse.template,
  accept_obligation: dataUse.accept,
  name_obligation: dataUse.name,
  affiliation_obligation: dataUse.affiliation,
  email_obligation: dataUse.email,
  applicability: dataUse.applicability,
  persistence: dataUse.persistence,
  notification: dataUse.notification,
});
