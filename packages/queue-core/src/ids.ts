/** Ids are parsed, never cast: what is not of the right shape never becomes part of a path. */
import { createHash } from "node:crypto";

declare const brand: unique symbol;
export type JobId = string & { readonly [brand]: "JobId" };
export type BatchId = string & { readonly [brand]: "BatchId" };
/** `bid-` + UUID: the batch's name outside, and the key that makes its creation idempotent. */
export type BatchUuid = string & { readonly [brand]: "BatchUuid" };
/** `jid-` + UUID. It tells where the job is found, by its batch and row or by its number: see `whereIsJob`. */
export type JobUuid = string & { readonly [brand]: "JobUuid" };

const JOB_ID = /^jid\d{10}$/;
const BATCH_ID = /^bid\d{10}$/;
const UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}";
const BATCH_UUID = new RegExp(`^bid-${UUID}$`);
const JOB_UUID = new RegExp(`^jid-${UUID}$`);

export const parseJobId = (raw: string): JobId | null => (JOB_ID.test(raw) ? (raw as JobId) : null);
export const parseBatchId = (raw: string): BatchId | null => (BATCH_ID.test(raw) ? (raw as BatchId) : null);
export const parseBatchUuid = (raw: string): BatchUuid | null => (BATCH_UUID.test(raw) ? (raw as BatchUuid) : null);
export const parseJobUuid = (raw: string): JobUuid | null => (JOB_UUID.test(raw) ? (raw as JobUuid) : null);

/** ZooKeeper's own sequence is ten digits of a signed int: so are ours, and CDL's tools sort them alike. */
export const ID_MAX = 2_147_483_647;

function numbered(prefix: string, number: number): string {
  if (!Number.isInteger(number) || number < 0 || number > ID_MAX)
    throw new RangeError(`no ${prefix} number: ${number}`);
  return `${prefix}${String(number).padStart(10, "0")}`;
}
export const jobId = (number: number): JobId => numbered("jid", number) as JobId;
export const batchId = (number: number): BatchId => numbered("bid", number) as BatchId;
export const jobNumber = (id: JobId): number => Number(id.slice(3));
export const batchNumber = (id: BatchId): number => Number(id.slice(3));

function formatUuid(bytes: Buffer, version: number): string {
  const b = Buffer.from(bytes.subarray(0, 16));
  b[6] = ((b[6] ?? 0) & 0x0f) | (version << 4);
  b[8] = ((b[8] ?? 0) & 0x3f) | 0x80;
  const hex = b.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The v5 UUID space of submissions: made from caller and Idempotency-Key, so one key of one caller is one batch. */
const SUBMISSION_SPACE = Buffer.from("a3f1c1d27d3b5be69e5a5a1a0f6c2b47", "hex");

export function batchUuidFromKey(caller: string, key: string): BatchUuid {
  const name = `${String(Buffer.byteLength(caller))}:${caller}${key}`; // the length keeps ("ab","c") and ("a","bc") apart
  return `bid-${formatUuid(createHash("sha1").update(SUBMISSION_SPACE).update(name).digest(), 5)}` as BatchUuid;
}

export const batchUuidFromRandom = (random16: Buffer): BatchUuid => `bid-${formatUuid(random16, 4)}` as BatchUuid;

/** UUIDv8 of a job that others made: the first 32 bits are its number, the rest is of the fleet, so that two differ. */
export function jobUuid(id: JobId, fleet: string): JobUuid {
  const bytes = createHash("sha256").update(`${fleet}/${id}`).digest().subarray(0, 16);
  bytes.writeUInt32BE(jobNumber(id), 0);
  return `jid-${formatUuid(bytes, 8)}` as JobUuid;
}

/** What makes a row's job this job, whichever history of the tree makes it. */
export interface JobOrigin {
  readonly fleet: string;
  readonly batch: BatchId;
  /** The batch's name outside. */
  readonly batchName: string;
  /** Counted from 1. */
  readonly row: number;
  /** What the row says: another content is another job. */
  readonly content: string;
}

/** So many rows a batch may have. */
export const ROW_MAX = 2 ** 28 - 1;
/** Numbers of jobs and batches do not reach it: it tells the two kinds of UUIDs apart. */
const OF_A_ROW = 0x8000_0000;

/** UUIDv8 of a batch's row: its number, the row, and 62 bits of a digest of all that makes it this job. */
export function jobUuidOfRow({ fleet, batch, batchName, row, content }: JobOrigin): JobUuid {
  const bytes = createHash("sha256")
    .update(JSON.stringify([fleet, batch, batchName, row, content]))
    .digest();
  bytes.writeUInt32BE(OF_A_ROW + batchNumber(batch), 0);
  // The version takes the upper four bits of the seventh byte: the row stands around it.
  bytes.writeUInt32BE((Math.floor(row / 0x1000) * 0x1_0000 + (row % 0x1000)) >>> 0, 4);
  return `jid-${formatUuid(bytes.subarray(0, 16), 8)}` as JobUuid;
}

export type JobPointer =
  | { readonly kind: "number"; readonly id: JobId }
  | { readonly kind: "row"; readonly batch: BatchId; readonly row: number };

/** Made by others: Merritt's are random, and say nothing. */
export const isOthersUuid = (uuid: JobUuid): boolean => uuid[OUR_VERSION_AT] !== "8";
const OUR_VERSION_AT = "jid-00000000-0000-".length;

/** Where a job of this name is, if it is there: whoever reads it compares the name. */
export function whereIsJob(uuid: JobUuid): JobPointer {
  const hex = uuid.slice("jid-".length).replaceAll("-", "");
  const head = Number.parseInt(hex.slice(0, 8), 16);
  if (head <= ID_MAX) return { kind: "number", id: jobId(head) };
  const row = Number.parseInt(hex.slice(8, 12), 16) * 0x1000 + Number.parseInt(hex.slice(13, 16), 16);
  return { kind: "row", batch: batchId(head - OF_A_ROW), row };
}
