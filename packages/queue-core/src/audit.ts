/**
 * Every operator's action leaves a record in the multi that carries it out: who, what, on what, why. Records form a
 * hash chain, so that one that was changed or taken away shows. The op id makes a lost answer resolvable.
 */
import { createHash } from "node:crypto";
import type { Op } from "@sluice/zookeeper";
import { type JobId, jobNumber } from "./ids.ts";
import { createOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { type AuditedJobs, type AuditHead, type AuditRecord, records } from "./records.ts";

export interface AuditEntry {
  readonly op: string;
  readonly at: string;
  readonly actor: string;
  /** The id of the caller behind the name; absent when no API authenticated them. */
  readonly caller?: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string;
  readonly jobs?: AuditedJobs;
}

/** A longer list stands beside the order, for as long as that is kept; its digest is kept as long as the audit. */
const LISTED_BYTES = 32_768;

/** Which jobs an order is for, in one record however many they are. */
export function auditedJobs(ids: readonly JobId[]): AuditedJobs {
  const numbers = [...new Set(ids.map(jobNumber))].sort((a, b) => a - b);
  const list = records.jobNumbers.encode(numbers);
  const jobs = { count: numbers.length, digest: auditHash(list) };
  return list.length > LISTED_BYTES ? jobs : { ...jobs, list: list.toString() };
}

/** null: the record does not say whether the job is one of them. */
export function isAmongJobs({ jobs }: Pick<AuditRecord, "jobs">, id: JobId): boolean | null {
  if (jobs === undefined) return false;
  const numbers = jobs.list === undefined ? null : records.jobNumbers.decode(Buffer.from(jobs.list));
  return numbers?.ok === true ? numbers.value.includes(jobNumber(id)) : null;
}

export function nextAuditRecord(head: AuditHead, entry: AuditEntry): AuditRecord {
  return { number: head.number + 1, ...entry, previous: head.hash };
}

/**
 * Of a record's bytes as they are stored. A version that knows fewer fields than the author of the record must not call the
 * chain broken.
 */
export const auditHash = (data: Buffer): string => createHash("sha256").update(data).digest("hex");

/** The head is compared and set: two actions at once are two links of the chain, never one. */
export function auditOps(head: AuditHead, headVersion: number, entry: AuditEntry): readonly [Op, Op] {
  const record = nextAuditRecord(head, entry);
  const data = records.auditRecord.encode(record);
  const next: AuditHead = { number: record.number, hash: auditHash(data) };
  return [
    setOp(paths.auditHead, records.auditHead.encode(next), headVersion),
    createOp(paths.auditRecord(record.number), data),
  ];
}

/** null when the chain is whole, else what is wrong with it. */
export function auditProblem(chain: readonly AuditRecord[]): string | null {
  let previous = "";
  for (const [i, record] of chain.entries()) {
    if (record.number !== i + 1) return `record ${i + 1} is missing`;
    if (record.previous !== previous) return `record ${record.number} does not follow its predecessor`;
    previous = auditHash(records.auditRecord.encode(record));
  }
  return null;
}
