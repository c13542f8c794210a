/** CDL's words and what they are here. Pure. */
import { type JobState, readJobState, resumeAt } from "@sluice/queue-core";
import type { OldNode } from "./old-tree.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** null for what is no JSON object. */
export function objectOf(node: OldNode | undefined): JsonObject | null {
  if (node === undefined) return null;
  try {
    const raw = JSON.parse(node.data.toString("utf8")) as unknown;
    return typeof raw === "object" && raw !== null && !Array.isArray(raw) ? (raw as JsonObject) : null;
  } catch {
    return null;
  }
}

/** The first of these keys that says something. */
export function textOf(raw: JsonObject, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = raw[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

export const jsonData = (raw: JsonObject): Buffer => Buffer.from(JSON.stringify(raw));

/** What a job's words in `status` mean to those who made the tree. */
export const readOldState = (raw: unknown): JobState | null => (typeof raw === "string" ? readJobState(raw) : null);

export interface StoredFacts {
  readonly knowsStoring: boolean;
  /** An ARK and the place of a stored version are written down. */
  readonly stored: boolean;
}

/**
 * Where a job can go on here. Files of the old fleet lie in other folders than ours, so that what was fetched is fetched
 * again; what was stored is not stored again. Storing is part of our Processing.
 */
export function goesOnAt(state: JobState, { stored }: StoredFacts): JobState {
  if (state === "Storing" || state === "Processing") return "Downloading";
  return state === "Recording" && !stored ? "Downloading" : state;
}

/** The state behind which a failed job is resumed; null = from its beginning. */
export function lastSuccessOf(raw: unknown, facts: StoredFacts): JobState | null {
  const last = readOldState(raw);
  if (last === null) return null;
  if (last === "Storing") return facts.stored ? "Processing" : "Provisioning";
  if (last === "Processing" && (facts.knowsStoring || !facts.stored)) return "Provisioning";
  if (last === "Downloading") return "Provisioning";
  // Held and Failed, which the libraries write there too, say nothing about success.
  return resumeAt(last) === "Pending" ? null : last;
}

/** By either set of names: `batch-manifest`, `batchManifestFile`, … */
export const isBatchOfMany = (raw: string | undefined): boolean => /batch-?manifest/i.test(raw ?? "");

/** A job's: `file`, `container` or `manifest`. */
export const jobType = (raw: string | undefined): string =>
  raw === undefined ? "file" : raw === "object-manifest" ? "manifest" : raw;

export const submissionMode = (raw: JsonObject): string =>
  raw["update"] === true || raw["update"] === "true" ? "update" : "add";
