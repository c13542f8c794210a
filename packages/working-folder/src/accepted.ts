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
  /** Number and epoch: the names of its jobs hold them. */
  readonly place: BatchPlace;
  readonly submission: Submission;
}

export type ReadAccepted =
  | { readonly kind: "found"; readonly accepted: AcceptedBatch }
  | { readonly kind: "none" }
  | { readonly kind: "unreadable"; readonly why: string };

export interface AcceptedBatches {
  /** On disk when it answers. */
  readonly put: (accepted: AcceptedBatch) => Promise<Outcome<void>>;
  readonly has: (uuid: BatchUuid) => Promise<boolean>;
  readonly read: (uuid: BatchUuid) => Promise<ReadAccepted>;
  /** Before the batch leaves the queue: what has a record and no batch was lost. */
  readonly remove: (uuid: BatchUuid) => Promise<Outcome<void>>;
}

export async function openAcceptedBatches(workingDir: string): Promise<AcceptedBatches> {
  const opened = await ContainedFolder.open(workingDir);
  if (!opened.ok) throw new IoError(opened.error);
  const root = opened.value;
  return {
    put: (accepted) => root.write(nameOf(accepted.uuid), printAccepted(accepted)),
    has: async (uuid) => (await root.stat(nameOf(uuid))).ok,
    read: (uuid) => readFrom(root, uuid),
    remove: (uuid) => root.remove(nameOf(uuid)),
  };
}

const nameOf = (uuid: BatchUuid): string => `${ACCEPTED}/${uuid}${SUFFIX}`;

const printAccepted = ({ uuid, place, submission }: AcceptedBatch): string =>
  JSON.stringify({ version: 1, uuid, batch: batchFolder(place), submission });

/** For whoever only looks: nothing is made. null: the working folder cannot be read. */
export async function listAccepted(workingDir: string): Promise<readonly BatchUuid[] | null> {
  const names = await readdir(join(workingDir, ACCEPTED)).catch((error: unknown) => (isMissing(error) ? [] : null));
  return (
    names?.flatMap((name) => (name.endsWith(SUFFIX) ? (parseBatchUuid(name.slice(0, -SUFFIX.length)) ?? []) : [])) ??
    null
  );
}

async function readFrom(root: ContainedFolder, uuid: BatchUuid): Promise<ReadAccepted> {
  const read = await root.read(nameOf(uuid));
  return read.ok ? parseAccepted(read.value) : faultOf(read.error);
}

const faultOf = ({ code, message }: IoFault): ReadAccepted =>
  code === "NOT_FOUND" ? { kind: "none" } : { kind: "unreadable", why: message };

function parseAccepted(data: Buffer): ReadAccepted {
  const { version, uuid: name, batch, submission: said } = objectOf(data.toString("utf8"));
  const uuid = typeof name === "string" ? parseBatchUuid(name) : null;
  const place = typeof batch === "string" ? parseBatchFolder(batch) : null;
  const submission = records.submission.decode(Buffer.from(JSON.stringify(said ?? null)));
  if (version !== 1 || uuid === null || place === null)
    return { kind: "unreadable", why: "it is no record of this version" };
  if (!submission.ok) return { kind: "unreadable", why: submission.problem };
  return { kind: "found", accepted: { uuid, place, submission: submission.value } };
}

const isMissing = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT";
