import type { ManifestKind } from "./checkm/kinds.ts";
import { kindOfHead } from "./checkm/kinds.ts";
import { type Parsed, parsed, refused } from "./problem.ts";
import { quote } from "./text.ts";

/** As the submission form names them. */
export const PAYLOAD_TYPES = [
  "file",
  "container",
  "object-manifest",
  "batch-manifest",
  "container-batch-manifest",
  "single-file-batch-manifest",
] as const;

export type PayloadType = (typeof PAYLOAD_TYPES)[number];

/** Merritt's internal names, found in submissions that its own services wrote, and the form's older name. */
const ALIASES: Readonly<Record<string, PayloadType>> = {
  manifest: "object-manifest",
  batchmanifest: "batch-manifest",
  batchmanifestcontainer: "container-batch-manifest",
  batchmanifestfile: "single-file-batch-manifest",
};

export function parsePayloadType(text: string): Parsed<PayloadType> {
  const normal = text.trim().toLowerCase();
  const found = PAYLOAD_TYPES.find((type) => type === normal) ?? ALIASES[normal];
  if (found !== undefined) return parsed(found);
  return refused({
    code: "PAYLOAD_TYPE_UNKNOWN",
    message: `unknown payload type ${quote(text)}`,
    column: "type",
    expected: PAYLOAD_TYPES.join(", "),
  });
}

/** The manifest that a payload of this type must be; undefined for files and containers. */
export function manifestKindOf(type: PayloadType): ManifestKind | undefined {
  return type === "file" || type === "container" ? undefined : type;
}

/** A batch becomes several jobs, the others one. */
export const isBatchType = (type: PayloadType): boolean => type.endsWith("batch-manifest");

/** What a row of a batch of this type is, as a job's payload. */
export const ROW_PAYLOAD_TYPE = {
  "batch-manifest": "object-manifest",
  "container-batch-manifest": "container",
  "single-file-batch-manifest": "file",
} as const satisfies Partial<Record<PayloadType, PayloadType>>;

const CONTAINER_NAME = /\.(?:gz|tar|zip|bz|tgz|bz2)$/i;

export const isContainerName = (fileName: string): boolean => CONTAINER_NAME.test(fileName);

/**
 * The type of a payload that came without one: containers by name, manifests by the profile in their first lines
 * (`head`: the first 4 KB are enough), anything else is a file.
 */
export function detectPayloadType(fileName: string, head: string): PayloadType {
  if (isContainerName(fileName)) return "container";
  const kind = kindOfHead(head);
  return kind === undefined || kind === "storage-manifest" || kind === "object-check-manifest" ? "file" : kind;
}
