/** One file that stands in the request itself, as the cells of a manifest's row. Pure. */
import { parseDigest, type PrintableRow } from "@sluice/ingest-formats";
import { parseName } from "@sluice/safe-io";
import type { SubmittedFile } from "@sluice/wire";
import { nameOfUrl, nameProblem } from "./payload-name.ts";
import { isPlainText, TEXT_MAX } from "./text.ts";
import { urlProblem } from "./url.ts";

/** Under the name of a field; null: there is nothing to complain about. */
export type Complain = (field: string, detail: string | null) => void;

/** The object's only file: it stands at the top of its folder. */
export function fileCells(file: SubmittedFile, complain: Complain): PrintableRow {
  if (file.name !== undefined) complain("name", nameProblem(file.name));
  return { ...(file.name === undefined ? {} : { fileName: file.name }), ...cellsOf(file, complain) };
}

/** One of several: its name may have folders. */
export function fileRow(file: SubmittedFile, complain: Complain): PrintableRow {
  const fileName = file.name ?? nameOfUrl(file.url);
  const parsed = parseName(fileName);
  if (!parsed.ok) complain("name", parsed.error.message);
  const mimeType = file.mime_type;
  complain("mime_type", textProblem(mimeType ?? ""));
  return { fileName, ...cellsOf(file, complain), ...(mimeType === undefined ? {} : { mimeType }) };
}

function cellsOf(file: SubmittedFile, complain: Complain): PrintableRow {
  complain("url", urlProblem(file.url));
  const digest = digestOf(file, complain);
  return {
    fileUrl: file.url,
    ...(digest === null ? {} : { digest }),
    ...(file.size === undefined ? {} : { fileSize: file.size }),
  };
}

export function textProblem(text: string): string | null {
  if (!isPlainText(text)) return "line ends and other control characters are not allowed";
  return text.length > TEXT_MAX ? `has more than ${TEXT_MAX} characters` : null;
}

function digestOf({ digest_type: type, digest_value: value }: SubmittedFile, complain: Complain) {
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
