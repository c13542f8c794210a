/** Objects that stand in the request itself become a batch manifest: from there on they are a batch like any other. Pure. */
import {
  describeProblem,
  type ManifestKind,
  parseObjectArk,
  parseLocalIds,
  parsePayloadType,
  type PayloadType,
  printArk,
  type PrintableRow,
  printManifest,
} from "@sluice/ingest-formats";
import { OBJECTS_OF_FILES_MAX, type SubmittedFile, type SubmittedObject } from "@sluice/wire";
import { inlineManifestName, uploadUrl } from "@sluice/working-folder";
import type { Checked, FieldProblem } from "./field-problem.ts";
import { type Complain, fileCells, fileRow, textProblem } from "./inline-files.ts";

export interface InlineBatch {
  readonly kind: BatchKind;
  readonly manifest: string;
  /** Of objects with files of their own: named by the batch manifest as they are counted here. */
  readonly objectManifests: readonly string[];
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
  if (!parsed.ok) return { ok: false, problems: [{ field: "type", detail: messagesOf(parsed) }] };
  const kind = KIND_OF[parsed.value];
  return objects.some(({ files }) => files !== undefined) ? ofFiles(objects, kind) : ofPayloads(objects, kind);
}

const messagesOf = ({ problems }: { readonly problems: readonly { readonly message: string }[] }): string =>
  problems.map(({ message }) => message).join("; ");

/** Each object is one payload, at its URL. */
function ofPayloads(objects: readonly SubmittedObject[], kind: BatchKind): Checked<InlineBatch> {
  const checked = objects.map((object, index) => {
    const problems: FieldProblem[] = [];
    const complain = complainer(problems, fieldOf(index, ""));
    const file = payloadOf(object);
    if (file === null) complain("url", "is required: where the object can be fetched; or files");
    return { problems, row: { ...objectCells(object, complain), ...fileCells(file ?? { url: "" }, complain) } };
  });
  return printed(
    kind,
    checked.map(({ row }) => row),
    checked.flatMap(({ problems }) => problems),
  );
}

/** Some have several files: each object gets a manifest of its own, but one whose URL is that of a manifest. */
function ofFiles(objects: readonly SubmittedObject[], kind: BatchKind): Checked<InlineBatch> {
  const problems: FieldProblem[] = [];
  if (kind === "container-batch-manifest")
    problems.push({ field: "type", detail: "objects with files are no containers: submit those by themselves" });
  const objectManifests: string[] = [];
  const rows = objects.map((object, index): PrintableRow => {
    const complain = complainer(problems, fieldOf(index, ""));
    const cells = objectCells(object, complain);
    const own = payloadOf(object);
    if (own !== null && kind === "batch-manifest") return { ...cells, ...fileCells(own, complain) };
    const files = filesOf(object, complain);
    const manifest = manifestOf(files, index, object.files === undefined, problems);
    objectManifests.push(manifest);
    return { ...cells, fileUrl: uploadUrl(inlineManifestName(objectManifests.length)) };
  });
  if (objectManifests.length > OBJECTS_OF_FILES_MAX)
    problems.push({
      field: "objects",
      detail: `more than ${OBJECTS_OF_FILES_MAX} objects with files: put them into manifests`,
    });
  const batch = printed("batch-manifest", rows, problems);
  return batch.ok ? { ok: true, value: { ...batch.value, objectManifests } } : batch;
}

function printed(
  kind: BatchKind,
  rows: readonly PrintableRow[],
  problems: readonly FieldProblem[],
): Checked<InlineBatch> {
  if (problems.length > 0) return { ok: false, problems };
  const manifest = printManifest(kind, rows);
  if (manifest.ok) return { ok: true, value: { kind, manifest: manifest.value, objectManifests: [] } };
  const unprintable = manifest.problems.map(({ row, column, message }) => ({
    field: fieldOf((row ?? 1) - 1, FIELD_OF_COLUMN[column ?? ""] ?? ""),
    detail: message,
  }));
  return { ok: false, problems: unprintable };
}

/** Of one object; what is wrong is said of the file's own field. */
function manifestOf(
  files: readonly SubmittedFile[],
  index: number,
  isAlone: boolean,
  problems: FieldProblem[],
): string {
  const place = (file: number): string => (isAlone ? fieldOf(index, "") : `${fieldOf(index, "files")}/${file}`);
  const before = problems.length;
  const rows = files.map((file, at) => fileRow(file, complainer(problems, place(at))));
  const names = new Set<string>();
  for (const [at, { fileName = "" }] of rows.entries()) {
    if (names.has(fileName))
      problems.push({ field: `${place(at)}/name`, detail: "another file of the object has this name" });
    names.add(fileName);
  }
  if (problems.length > before) return "";
  const manifest = printManifest("object-manifest", rows);
  if (manifest.ok) return manifest.value;
  for (const { row, column, message } of manifest.problems) {
    const name = column === "mimeType" ? "mime_type" : (FIELD_OF_COLUMN[column ?? ""] ?? "");
    problems.push({ field: `${place((row ?? 1) - 1)}${name === "" ? "" : `/${name}`}`, detail: message });
  }
  return "";
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

const complainer =
  (problems: FieldProblem[], place: string): Complain =>
  (name, detail) => {
    if (detail !== null) problems.push({ field: `${place}/${name}`, detail });
  };

const OF_ONE_FILE = ["name", "digest_type", "digest_value", "size"] as const;

/** The one file that the object's own fields describe; null: it has none, or several. */
function payloadOf({ url, files, name, digest_type, digest_value, size }: SubmittedObject): SubmittedFile | null {
  return url === undefined || files !== undefined ? null : { url, name, digest_type, digest_value, size };
}

function filesOf(object: SubmittedObject, complain: Complain): readonly SubmittedFile[] {
  if (object.files === undefined) {
    const own = payloadOf(object);
    if (own === null) complain("url", "is required: where the object can be fetched; or files");
    return own === null ? [] : [own];
  }
  for (const name of ["url", ...OF_ONE_FILE] as const)
    if (object[name] !== undefined) complain(name, "does not go together with files");
  return object.files;
}

const TEXTS = ["title", "creator", "date"] as const;

/** What is said of the object, whatever it is made of. */
function objectCells(object: SubmittedObject, complain: Complain): PrintableRow {
  const localIds = parseLocalIds([object.local_id ?? []].flat().join(";"));
  for (const id of localIds) complain("local_id", textProblem(id));
  for (const name of TEXTS) complain(name, textProblem(object[name] ?? ""));
  const ark = object.primary_id === undefined ? null : parseObjectArk(object.primary_id.trim());
  if (ark?.ok === false) complain("primary_id", ark.problems.map(describeProblem).join("; "));
  return {
    localIds,
    ...(ark?.ok === true ? { primaryId: printArk(ark.value) } : {}),
    ...(object.title === undefined ? {} : { title: object.title }),
    ...(object.creator === undefined ? {} : { creator: object.creator }),
    ...(object.date === undefined ? {} : { date: object.date }),
  };
}
