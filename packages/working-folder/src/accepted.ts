/**
 * What was accepted, beside the files: a record of each batch that the queue has, written before its depositor is answered
 * and taken away before the batch leaves the queue. With it a batch that a restored tree does not know can be made again.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  batchFolder,
  type BatchPlace,
  type BatchUuid,
  parseBatchFolder,
  parseBatchUuid,
  records,
  type Submission,
} from "@sluice/queue-core";
import { ContainedFolder, type IoFault, IoError, type Outcome } from "@sluice/safe-io";
import { objectOf } from "./json-object.ts";

/** Beside the batches' folders: a batch has its record before it has a folder. */
const ACCEPTED = ".accepted";
const SUFFIX = ".json";

export interface AcceptedBatch {
  readonly uuid: BatchUuid;
  readonly submission: Submission;
}

export type ReadAccepted =
  | { readonly kind: "found"; readonly accepted: AcceptedBatch }
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly why: string };

export interface AcceptedBatches {
  /** On disk when it answers. */
  readonly put: (place: BatchPlace, accepted: AcceptedBatch) => Promise<Outcome<void>>;
  readonly has: (place: BatchPlace) => Promise<boolean>;
  /** Before the batch leaves the queue: what has a record and no batch was lost. */
  readonly remove: (place: BatchPlace) => Promise<Outcome<void>>;
}

export async function openAcceptedBatches(workingDir: string): Promise<AcceptedBatches> {
  const opened = await ContainedFolder.open(workingDir);
  if (!opened.ok) throw new IoError(opened.error);
  const root = opened.value;
  return {
    put: (place, accepted) => root.write(nameOf(place), printAccepted(accepted)),
    has: async (place) => (await root.stat(nameOf(place))).ok,
    remove: (place) => root.remove(nameOf(place)),
  };
}

const nameOf = (place: BatchPlace): string => `${ACCEPTED}/${batchFolder(place)}${SUFFIX}`;

const printAccepted = ({ uuid, submission }: AcceptedBatch): string => JSON.stringify({ version: 1, uuid, submission });

/** For whoever only looks: nothing is made. null: the working folder cannot be read. */
export async function listAccepted(workingDir: string): Promise<readonly BatchPlace[] | null> {
  const names = await readdir(join(workingDir, ACCEPTED)).catch((error: unknown) => (isMissing(error) ? [] : null));
  return (
    names?.flatMap((name) => (name.endsWith(SUFFIX) ? (parseBatchFolder(name.slice(0, -SUFFIX.length)) ?? []) : [])) ??
    null
  );
}

export async function readAccepted(workingDir: string, place: BatchPlace): Promise<ReadAccepted> {
  const opened = await ContainedFolder.open(workingDir);
  const read = opened.ok ? await opened.value.read(nameOf(place)) : opened;
  if (!read.ok) return faultOf(read.error);
  return parseAccepted(read.value);
}

const faultOf = ({ code, message }: IoFault): ReadAccepted =>
  code === "NOT_FOUND" ? { kind: "none" } : { kind: "unreadable", why: message };

function parseAccepted(data: Buffer): ReadAccepted {
  const raw = objectOf(data.toString("utf8"));
  const uuid = typeof raw["uuid"] === "string" ? parseBatchUuid(raw["uuid"]) : null;
  const submission = records.submission.decode(Buffer.from(JSON.stringify(raw["submission"] ?? null)));
  if (raw["version"] !== 1 || uuid === null) return { kind: "unreadable", why: "it is no record of this version" };
  if (!submission.ok) return { kind: "unreadable", why: submission.problem };
  return { kind: "found", accepted: { uuid, submission: submission.value } };
}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
