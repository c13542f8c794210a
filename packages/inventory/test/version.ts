import type {
  ArchivedJob,
  BatchToArchive,
  DataUseAgreement,
  StoredFile,
  StoredMetadata,
  StoredVersion,
} from "../src/index.ts";

export const OWNER = "ark:/99999/fk4owner";
export const COLLECTION = "ark:/99999/fk4collection";

export interface VersionParts {
  readonly ark?: string;
  readonly number?: number;
  readonly job?: string;
  readonly owner?: string;
  readonly localIds?: readonly string[];
  readonly who?: string;
  readonly files?: readonly string[];
  /** Files that an earlier version brought. */
  readonly kept?: readonly string[];
  readonly storageNode?: string;
  readonly embargoEndDate?: string;
  readonly dataUse?: DataUseAgreement;
  readonly metadata?: readonly StoredMetadata[];
  readonly aggregate?: "MRT-collection";
}

const fileAt = (path: string, isNew: boolean): StoredFile => ({
  path,
  bytes: 5,
  isNew,
  contentUrl: `file:///srv/store/content/${encodeURI(path)}`,
  mimeType: "text/plain",
  digestType: "sha-256",
  digestValue: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
});

/** An object version as a store would tell it. */
export function aVersion(parts: VersionParts = {}): StoredVersion {
  const { ark = "ark:/99999/fk4object", number = 1, localIds = [], who = "Ann", owner = OWNER } = parts;
  const { job = `jid-${ark}-${number}`, files = ["producer/hello.txt", "system/mrt-erc.txt"], kept = [] } = parts;
  const { storageNode, embargoEndDate = null, dataUse = null, metadata = [], aggregate } = parts;
  return {
    ark,
    number,
    created: `2026-02-0${number}T03:04:05Z`,
    note: `version ${number}`,
    manifestUrl: `file:///srv/store/${ark}/v${number}/inventory.json`,
    files: [...files.map((path) => fileAt(path, true)), ...kept.map((path) => fileAt(path, false))],
    owner,
    collections: [COLLECTION],
    mom: {
      type: "MRT-curatorial",
      role: "MRT-content",
      primaryId: ark,
      localIds,
      ...(aggregate === undefined ? {} : { aggregate }),
    },
    erc: { who, what: "Hello 🌍", primaryId: ark, localIds },
    ingest: {
      batch: "bid0000000001",
      job,
      file: "hello.txt",
      type: "file",
      profile: "library_content",
      submissionDate: "2026-02-01T00:00:00Z",
      storageService: "file:///srv/store",
      ...(storageNode === undefined ? {} : { storageNode }),
    },
    embargoEndDate,
    dataUse,
    metadata,
  };
}

export const A_DATA_USE: DataUseAgreement = {
  identifier: null,
  title: "Terms of the Müller papers",
  terms: "Cite the papers. ".repeat(2_000),
  template: "<html/>",
  accept: "required",
  name: "optional",
  affiliation: "none",
  email: "required",
  applicability: "object",
  persistence: "session",
  notification: "papers@example.org",
};

export const anEndedJob = (number: number, status = "Completed"): ArchivedJob => ({
  id: `jid${String(number).padStart(10, "0")}`,
  uuid: `jid-uuid-${number}`,
  outcome: { status, message: status === "Completed" ? "" : "DOWNLOAD_FAILED: HTTP 404", retry_count: 1 },
  configuration: { profile_name: "library_content", payload_name: `Ünïcode-${number}.pdf` },
  identifiers: { primary_id: `ark:/99999/fk4${number}`, local_id: [`etd-${number}`] },
  metadata: null,
  inventory: { manifest_url: `file:///srv/store/${number}/v1/inventory.json`, mode: "add" },
  events: [["op", 1_770_000_000, "done", "Notify", "notifier-1"]],
});

export function anEndedBatch(overrides: Partial<BatchToArchive> = {}): BatchToArchive {
  return {
    id: "bid0000000007",
    uuid: "bid-1f0d7f3e-0000-4000-8000-000000000007",
    outcome: { status: "Completed", last_modified: "2026-02-01T00:00:00Z", message: "" },
    profile: "library_content",
    submitter: "anna",
    submission: { profile_name: "library_content", submitter: "anna", payload_url: "https://example.org/m.checkm" },
    reports: [{ last_modified: "2026-02-01T00:00:00Z", failed_jobs: [], successful_jobs: ["jid0000000001"] }],
    archivedAt: "2026-02-08T00:00:00Z",
    jobs: [[anEndedJob(1), anEndedJob(2)], [anEndedJob(3, "Deleted")]],
    ...overrides,
  };
}
