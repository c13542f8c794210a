/**
 * A job's data is JSON text, kept byte for byte. Two keys in it are ours, by the document: `mockRequest` and
 * `retryAfterCount`. They are fields of the record; they are taken out of what comes in and put into what is shown.
 */
import { parseJson, type Job } from "../records.ts";

export interface GivenData {
  readonly text: string;
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

/** Null for what is no JSON object. */
export function parseData(text: string): GivenData | null {
  const value = parseJson(text);
  if (!isObject(value)) return null;
  const { mockRequest, retryAfterCount, ...rest } = value;
  const clean = mockRequest === undefined && retryAfterCount === undefined;
  const count = typeof retryAfterCount === "string" ? Number(retryAfterCount) : retryAfterCount;
  return {
    text: clean ? text.trim() : JSON.stringify(rest),
    mock: mockRequest !== undefined && mockRequest !== false && mockRequest !== 0 && mockRequest !== "",
    retryAfterCount: typeof count === "number" && Number.isInteger(count) && count >= 0 ? count : null,
    last: value["delete"] === true || value["delete"] === "true",
  };
}

/** With our keys in front, and the rest as it came. */
export function shownData(job: Pick<Job, "data" | "mock" | "retryAfterCount">): string {
  const ours = [
    ...(job.mock === true ? ['"mockRequest":true'] : []),
    ...((job.retryAfterCount ?? 0) > 0 ? [`"retryAfterCount":${job.retryAfterCount}`] : []),
  ];
  if (ours.length === 0) return job.data;
  const inner = job.data.slice(1, -1).trim();
  return `{${[...ours, ...(inner === "" ? [] : [inner])].join(",")}}`;
}

/** RFC 7396: objects are merged, null deletes, all else replaces. */
export function mergeData(old: string, patch: string): string {
  return JSON.stringify(merge(parseJson(old), parseJson(patch)));
}

function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) merged.delete(key);
    else merged.set(key, merge(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

export const sameData = (a: string, b: string): boolean =>
  JSON.stringify(parseJson(a)) === JSON.stringify(parseJson(b));
