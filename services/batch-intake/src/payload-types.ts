import { PAYLOAD_TYPES, parsePayloadType, type PayloadType } from "@sluice/ingest-formats";

/** What a job of each kind is called in its configuration, as CDL's libraries call it. */
export type JobPayloadType = "file" | "container" | "manifest";

interface TypeRow {
  /** A batch becomes one job per row of its manifest, the others become one job. */
  readonly batch: boolean;
  readonly job: JobPayloadType;
}

const ROWS: Readonly<Record<PayloadType, TypeRow>> = {
  file: { batch: false, job: "file" },
  container: { batch: false, job: "container" },
  "object-manifest": { batch: false, job: "manifest" },
  "batch-manifest": { batch: true, job: "manifest" },
  "container-batch-manifest": { batch: true, job: "container" },
  "single-file-batch-manifest": { batch: true, job: "file" },
};

export const TAKEN_TYPES: readonly PayloadType[] = PAYLOAD_TYPES;

export const rowOfType = (type: PayloadType): TypeRow => ROWS[type];

/** Of a submission that leaves its type to be found from the content. */
export const TYPE_TO_BE_FOUND = "";

/** The type that a submission names; null = to be found, undefined = no type that we know. */
export function typeOfSubmission(raw: string): PayloadType | null | undefined {
  if (raw === TYPE_TO_BE_FOUND) return null;
  const parsed = parsePayloadType(raw);
  return parsed.ok ? parsed.value : undefined;
}
