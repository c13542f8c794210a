/**
 * A job's data is JSON text, kept byte for byte. Two keys in it are ours, by the document: `mockRequest` and
 * `retryAfterCount`. They are fields of the record; they are taken out of what comes in and put into what is shown.
 */
import type { BlobRef } from "../blobs.ts";
import { isSameJson, membersOf, mergedText, printMembers } from "../json-text.ts";
import { DATA_DEPTH, TREE_BYTES } from "../limits.ts";
import { isNestedDeeper } from "../nesting.ts";
import { parseJson, type Job } from "../records.ts";
import { type Status, STATUS } from "./statuses.ts";

export interface GivenData {
  readonly text: string;
  /** It was too large for the tree and stands in the store of blobs: the text is empty then. */
  readonly ref?: BlobRef;
  readonly mock: boolean;
  /** Null if it says none. */
  readonly retryAfterCount: number | null;
  /** FinishJob: do not repeat. */
  readonly last: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const NO_DATA: GivenData = { text: "{}", mock: false, retryAfterCount: null, last: false };

export function readData(text: string): GivenData | Status {
  if (isNestedDeeper(text, DATA_DEPTH)) return STATUS.tooDeep;
  const value = parseJson(text);
  if (!isObject(value)) return STATUS.badData;
  const { mockRequest, retryAfterCount } = value;
  const clean = mockRequest === undefined && retryAfterCount === undefined;
  const count = typeof retryAfterCount === "string" ? Number(retryAfterCount) : retryAfterCount;
  return {
    text: clean ? text.trim() : withoutOurs(text),
    mock: mockRequest !== undefined && mockRequest !== false && mockRequest !== 0 && mockRequest !== "",
    retryAfterCount: typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : null,
    last: value["delete"] === true || value["delete"] === "true",
  };
}

function withoutOurs(text: string): string {
  const members = new Map(membersOf(text));
  members.delete("mockRequest");
  members.delete("retryAfterCount");
  return printMembers(members);
}

/** With our keys in front, and the rest as it came. */
export function shownData(job: Pick<Job, "data" | "mock" | "retryAfterCount">): string {
  if (job.mock !== true && (job.retryAfterCount ?? 0) === 0) return job.data;
  const ours = [
    ...(job.mock === true ? ['"mockRequest":true'] : []),
    ...((job.retryAfterCount ?? 0) > 0 ? [`"retryAfterCount":${job.retryAfterCount}`] : []),
  ];
  return joinObjects(`{${ours.join(",")}}`, job.data);
}

/** Two JSON objects as one, each as it came. */
export function joinObjects(first: string, second: string): string {
  const inner = (text: string): string => text.trim().slice(1, -1).trim();
  return `{${[first, second]
    .map(inner)
    .filter((text) => text !== "")
    .join(",")}}`;
}

export const isTooLarge = (text: string): boolean =>
  text.length > TREE_BYTES / 4 && Buffer.byteLength(text) > TREE_BYTES;

/** As a string in JSON. */
export const printedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text));

/** As it would stand in the data of the job that follows: control characters take six times as much there. */
export const isLargeResult = (result: string): boolean =>
  result.length > TREE_BYTES / 6 && printedBytes(result) > TREE_BYTES;

/** The fields of a record that its data are. */
export type DataFields = Pick<Job, "data"> & { readonly dataRef: BlobRef | undefined };

export const dataFields = ({ text, ref }: GivenData): DataFields => ({ data: text, dataRef: ref });

/** What a second unique job makes of the first one's data; null: they are the same. Blobs are replaced, not merged. */
export function mergedFields(old: DataFields | Job, given: GivenData): DataFields | null {
  if (old.dataRef !== undefined || given.ref !== undefined)
    return old.dataRef?.sha256 === given.ref?.sha256 ? null : dataFields(given);
  return isSameJson(old.data, given.text) ? null : { data: mergedText(old.data, given.text), dataRef: undefined };
}
