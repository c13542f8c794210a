/** Objects that stand in the request itself become a batch manifest: from there on they are a batch like any other. Pure. */
import {
  describeProblem,
  type ManifestKind,
  parseObjectArk,
  parseDigest,
  parseLocalIds,
  parsePayloadType,
  type PayloadType,
  printArk,
  type PrintableRow,
  printManifest,
} from "@sluice/ingest-formats";
import type { SubmittedObject } from "@sluice/wire";
import type { Checked, FieldProblem } from "./field-problem.ts";
import { nameProblem } from "./payload-name.ts";
import { isPlainText, TEXT_MAX } from "./text.ts";
import { urlProblem } from "./url.ts";

export interface InlineBatch {
  readonly kind: BatchKind;
  readonly manifest: string;
}
type BatchKind = Extract<ManifestKind, `${string}batch-manifest`>;

/** What the objects are, or what a manifest of them is called: both are understood. */
const KIND_OF: Readonly<Record<PayloadType, BatchKind>> = {
  file: "single-file-batch-manifest",
  container: "container-batch-manifest",
  "object-manifest": "batch-manifest",
  "batch-manifest": "batch-manifest",
  "container-batch-manifest": "container-batch-manifest",
  "single-file-batch-manifest": "single-file-batch-manifest",
};

export function batchOfObjects(objects: readonly SubmittedObject[], type: string | undefined): Checked<InlineBatch> {
  const parsed = parsePayloadType(type ?? "file");
  const checked = objects.map(rowOf);
  const problems = checked.flatMap((row) => row.problems);
  if (!parsed.ok) problems.push({ field: "type", detail: parsed.problems.map(({ message }) => message).join("; ") });
  if (!parsed.ok || problems.length > 0) return { ok: false, problems };
  const kind = KIND_OF[parsed.value];
  const printed = printManifest(
    kind,
    checked.map(({ row }) => row),
  );
  if (printed.ok) return { ok: true, value: { kind, manifest: printed.value } };
  const unprintable = printed.problems.map(({ row, column, message }) => ({
    field: fieldOf((row ?? 1) - 1, FIELD_OF_COLUMN[column ?? ""] ?? ""),
    detail: message,
  }));
  return { ok: false, problems: unprintable };
}

const FIELD_OF_COLUMN: Readonly<Record<string, keyof SubmittedObject>> = {
  fileUrl: "url",
  fileName: "name",
  localIdentifier: "local_id",
  title: "title",
  creator: "creator",
  date: "date",
};

const fieldOf = (index: number, name: string): string => `objects/${index}${name === "" ? "" : `/${name}`}`;

const TEXTS = ["title", "creator", "date"] as const;

function rowOf(
  object: SubmittedObject,
  index: number,
): { readonly row: PrintableRow; readonly problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const complain = (name: keyof SubmittedObject, detail: string | null): void => {
    if (detail !== null) problems.push({ field: fieldOf(index, name), detail });
  };
  complain("url", urlProblem(object.url));
  if (object.name !== undefined) complain("name", nameProblem(object.name));
  const localIds = parseLocalIds([object.local_id ?? []].flat().join(";"));
  for (const id of localIds) complain("local_id", textProblem(id));
  for (const name of TEXTS) complain(name, textProblem(object[name] ?? ""));
  const digest = digestOf(object, complain);
  const ark = object.primary_id === undefined ? null : parseObjectArk(object.primary_id.trim());
  if (ark?.ok === false) complain("primary_id", ark.problems.map(describeProblem).join("; "));
  const row: PrintableRow = {
    fileUrl: object.url,
    localIds,
    ...(object.name === undefined ? {} : { fileName: object.name }),
    ...(digest === null ? {} : { digest }),
    ...(object.size === undefined ? {} : { fileSize: object.size }),
    ...(ark?.ok === true ? { primaryId: printArk(ark.value) } : {}),
    ...(object.title === undefined ? {} : { title: object.title }),
    ...(object.creator === undefined ? {} : { creator: object.creator }),
    ...(object.date === undefined ? {} : { date: object.date }),
  };
  return { row, problems };
}

function textProblem(text: string): string | null {
  if (!isPlainText(text)) return "line ends and other control characters are not allowed";
  return text.length > TEXT_MAX ? `has more than ${TEXT_MAX} characters` : null;
}

function digestOf(
  { digest_type: type, digest_value: value }: SubmittedObject,
  complain: (name: keyof SubmittedObject, detail: string) => void,
) {
  if (type === undefined && value === undefined) return null;
  if (type === undefined || value === undefined) {
    complain(type === undefined ? "digest_type" : "digest_value", "type and value of a digest come together");
    return null;
  }
  const digest = parseDigest(type, value);
  if (digest.ok) return digest.value;
  for (const { code, message } of digest.problems)
    complain(code === "DIGEST_VALUE_MALFORMED" ? "digest_value" : "digest_type", message);
  return null;
}
