/**
 * What stands in the journal, readable by people and byte for byte what was accepted. Pure.
 *
 *   #:Batch date=2026-11-16T13:00:00.000Z,bytes=86,jobtype=acme-resize,tenant=acme,ids=1-2
 *   2026-11-16T13:00:00.000Z|acme-resize|first payload
 *   2026-11-16T13:00:00.000Z|acme-resize|second | payload
 *   #:EndBatch
 *
 * `bytes` counts what is between the two marks. Payloads that are no lines of text follow each other as they are, and `sizes`
 * counts each. With `form=job` a payload is a whole new job as JSON, and the types in its lines are percent-encoded.
 */
import { type IdRun, idsIn, parseIdRuns, printIdRuns, runsOf } from "./id-runs.ts";

const BEGIN = "#:Batch ";
const END = Buffer.from("#:EndBatch\n");
const NEWLINE = 10;

export type Form = "payload" | "job";

export interface NewLine {
  readonly id: number;
  readonly name: string;
  readonly payload: Uint8Array;
}

export interface NewBatch {
  readonly atMs: number;
  readonly tenant: string;
  readonly form: Form;
  readonly lines: readonly NewLine[];
}

export interface Line extends NewLine {
  readonly tenant: string;
  readonly atMs: number;
  readonly form: Form;
  readonly payload: Buffer;
}

/** A line that cannot be read: its id is lost with it. */
export interface BadLine {
  readonly id: number;
  readonly why: string;
  readonly text: string;
}

export interface ReadBatch {
  readonly lines: readonly Line[];
  readonly bad: readonly BadLine[];
}

interface Header {
  readonly atMs: number;
  readonly bytes: number;
  readonly jobtype: string;
  readonly tenant: string;
  readonly ids: readonly number[];
  readonly form: Form;
  /** Null: the payloads are lines. */
  readonly sizes: readonly number[] | null;
}

/** Bars and line ends separate fields and lines, commas the fields of a header: a type that has them could be taken for another. */
export const isPlainType = (name: string): boolean => name !== "" && !/[\s,|]/.test(name);

const shownName = (name: string, form: Form): string => (form === "job" ? encodeURIComponent(name) : name);
const isText = (payload: Uint8Array): boolean => !payload.includes(NEWLINE) && isUtf8(payload);

function isUtf8(bytes: Uint8Array): boolean {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Buffer.from(buffer.toString("utf8"), "utf8").equals(buffer);
}

export function printBatch({ atMs, tenant, form, lines }: NewBatch): Buffer {
  const date = new Date(atMs).toISOString();
  const jobtype = `${tenant}-${shownName(lines[0]?.name ?? "", form)}`;
  const asLines = lines.every(({ payload }) => isText(payload));
  const body = asLines
    ? lines.flatMap(({ name, payload }) => [
        Buffer.from(`${date}|${tenant}-${shownName(name, form)}|`),
        payload,
        Buffer.of(NEWLINE),
      ])
    : lines.map(({ payload }) => payload);
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  const ids = printIdRuns(runsOf(lines.map(({ id }) => id)));
  const fields = [
    `date=${date},bytes=${bytes},jobtype=${jobtype},tenant=${tenant},ids=${ids}`,
    ...(form === "job" ? ["form=job"] : []),
    ...(asLines ? [] : [`sizes=${lines.map(({ payload }) => payload.length).join("+")}`]),
  ];
  return Buffer.concat([Buffer.from(`${BEGIN}${fields.join(",")}\n`), ...body, END]);
}

/** A sentence for what is no batch. */
export function parseBatch(record: Buffer): ReadBatch | string {
  const end = record.indexOf(NEWLINE);
  const header = end < 0 ? null : parseHeader(record.toString("utf8", 0, end));
  if (header === null) return "it does not begin with the header of a batch";
  const body = record.subarray(end + 1, end + 1 + header.bytes);
  if (!record.subarray(end + 1 + header.bytes).equals(END)) return "it does not end where its header says";
  return header.sizes === null ? readLines(header, body) : readSizes(header, header.sizes, body);
}

/** The ids of its lines, without reading them; null for what is no batch. */
export function idsOfBatch(record: Buffer): readonly IdRun[] | null {
  const end = record.indexOf(NEWLINE);
  const header = end < 0 ? null : parseHeader(record.toString("utf8", 0, end));
  return header === null ? null : runsOf(header.ids);
}

function parseHeader(text: string): Header | null {
  if (!text.startsWith(BEGIN)) return null;
  const fields = new Map(
    text
      .slice(BEGIN.length)
      .split(",")
      .map((field): [string, string] => {
        const at = field.indexOf("=");
        return [field.slice(0, at), field.slice(at + 1)];
      }),
  );
  const [atMs, bytes] = [Date.parse(fields.get("date") ?? ""), wholeOf(fields.get("bytes"))];
  const [jobtype, tenant, ids] = [fields.get("jobtype"), fields.get("tenant"), parseIdRuns(fields.get("ids") ?? "")];
  if (Number.isNaN(atMs) || bytes === null || jobtype === undefined || tenant === undefined || ids === null)
    return null;
  const sizes = fields.get("sizes")?.split("+").map(wholeOf) ?? null;
  if (sizes?.includes(null) === true || !jobtype.startsWith(`${tenant}-`)) return null;
  return {
    atMs,
    bytes,
    jobtype,
    tenant,
    ids: idsIn(ids),
    form: fields.get("form") === "job" ? "job" : "payload",
    sizes: sizes?.filter((size) => size !== null) ?? null,
  };
}

const wholeOf = (raw: string | undefined): number | null =>
  raw !== undefined && /^\d{1,15}$/.test(raw) ? Number(raw) : null;

function readLines(header: Header, body: Buffer): ReadBatch {
  const lines: Line[] = [];
  const bad: BadLine[] = [];
  let from = 0;
  for (const id of header.ids) {
    const at = body.indexOf(NEWLINE, from);
    const line = body.subarray(from, at < 0 ? body.length : at);
    const read = readLine(header, id, line);
    if (typeof read === "string") bad.push({ id, why: read, text: line.toString("utf8").slice(0, 200) });
    else lines.push(read);
    from += line.length + 1;
  }
  return { lines, bad };
}

function readLine({ tenant, form, jobtype }: Header, id: number, line: Buffer): Line | string {
  const first = line.indexOf("|");
  const second = line.indexOf("|", first + 1);
  if (first < 0 || second < 0) return "it has no time, type and payload";
  const atMs = Date.parse(line.toString("utf8", 0, first));
  if (Number.isNaN(atMs)) return "it does not begin with a time";
  const type = line.toString("utf8", first + 1, second);
  if (!type.startsWith(`${tenant}-`) || (form === "payload" && type !== jobtype)) return `${type} is not of its batch`;
  const name = nameOf(type.slice(tenant.length + 1), form);
  return name === null ? `${type} is no type` : { id, tenant, name, atMs, form, payload: line.subarray(second + 1) };
}

function nameOf(shown: string, form: Form): string | null {
  if (form === "payload") return shown;
  try {
    return decodeURIComponent(shown);
  } catch {
    return null;
  }
}

function readSizes({ ids, tenant, jobtype, atMs, form }: Header, sizes: readonly number[], body: Buffer): ReadBatch {
  const name = nameOf(jobtype.slice(tenant.length + 1), form) ?? "";
  const lines: Line[] = [];
  const bad: BadLine[] = [];
  let from = 0;
  for (const [n, id] of ids.entries()) {
    const size = sizes[n];
    if (size === undefined || from + size > body.length) bad.push({ id, why: "its bytes are not there", text: "" });
    else lines.push({ id, tenant, name, atMs, form, payload: body.subarray(from, from + size) });
    from += size ?? 0;
  }
  return { lines, bad };
}

/** `timestamp|tenant-jobtype|payload`, as the document has it. */
export function showLine({ atMs, tenant, name, form, payload }: Line): string {
  return `${new Date(atMs).toISOString()}|${tenant}-${shownName(name, form)}|${payload.toString("utf8")}`;
}

export function withoutEnd(line: string | Uint8Array): Uint8Array {
  if (typeof line === "string") return Buffer.from(line.replace(/\r?\n$/, ""));
  return line;
}
