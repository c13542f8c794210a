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
  readonly action: string;
  readonly target: string;
  readonly reason: string;
}

export function nextAuditRecord(head: AuditHead, entry: AuditEntry): AuditRecord {
  return { number: head.number + 1, ...entry, previous: head.hash };
}

export const auditHash = (record: AuditRecord): string =>
  createHash("sha256").update(records.auditRecord.encode(record)).digest("hex");

/** The head is compared and set: two actions at once are two links of the chain, never one. */
export function auditOps(head: AuditHead, headVersion: number, entry: AuditEntry): readonly Op[] {
  const record = nextAuditRecord(head, entry);
  const next: AuditHead = { number: record.number, hash: auditHash(record) };
  return [
    setOp(paths.auditHead, records.auditHead.encode(next), headVersion),
    createOp(paths.auditRecord(record.number), records.auditRecord.encode(record)),
  ];
}

/** null when the chain is whole, else what is wrong with it. */
export function auditProblem(chain: readonly AuditRecord[]): string | null {
  let previous = "";
  for (const [i, record] of chain.entries()) {
    if (record.number !== i + 1) return `record ${i + 1} is missing`;
    if (record.previous !== previous) return `record ${record.number} does not follow its predecessor`;
    previous = auditHash(record);
  }
  return null;
}
