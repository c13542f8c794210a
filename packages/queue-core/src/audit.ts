/**
 * Every operator's action leaves a record in the multi that carries it out: who, what, on what, why. Records form a
 * hash chain, so that one that was changed or taken away shows. The op id makes a lost answer resolvable.
 */
import { createHash } from "node:crypto";
import type { Op } from "@sluice/zookeeper";
import { createOp, setOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { type AuditHead, type AuditRecord, records } from "./records.ts";

export interface AuditEntry {
  readonly op: string;
  readonly at: string;
  readonly actor: string;
  /** The id of the caller behind the name; absent when no API authenticated them. */
  readonly caller?: string;
  readonly action: string;
  readonly target: string;
  readonly reason: string;
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
export function auditOps(head: AuditHead, headVersion: number, entry: AuditEntry): readonly Op[] {
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
