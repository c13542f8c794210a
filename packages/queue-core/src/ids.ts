/** Ids are parsed, never cast: what is not of the right shape never becomes part of a path. */
import { createHash } from "node:crypto";

declare const brand: unique symbol;
export type JobId = string & { readonly [brand]: "JobId" };
export type BatchId = string & { readonly [brand]: "BatchId" };
/** `bid-` + UUID: the batch's name outside, and the key that makes its creation idempotent. */
export type BatchUuid = string & { readonly [brand]: "BatchUuid" };
/** `jid-` + UUID, which carries the job's number: no index is needed to find the job again. */
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

/** UUIDv8: the first 32 bits are the job's number, the rest comes from the history's id, so that two trees differ. */
export function jobUuid(id: JobId, fleetId: string): JobUuid {
  const bytes = createHash("sha256").update(`${fleetId}/${id}`).digest().subarray(0, 16);
  bytes.writeUInt32BE(jobNumber(id), 0);
  return `jid-${formatUuid(bytes, 8)}` as JobUuid;
}

export function jobIdOfUuid(uuid: JobUuid): JobId | null {
  const number = Number.parseInt(uuid.slice(4, 12), 16);
  return number <= ID_MAX ? jobId(number) : null;
}
