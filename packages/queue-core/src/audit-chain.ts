/** The audit as it stands in the tree: from behind the anchor to the head, a page at a time. */
import type { Session } from "@sluice/zookeeper";
import { auditHash } from "./audit.ts";
import { nodeOf } from "./nodes.ts";
import { paths } from "./paths.ts";
import { type AuditAnchor, type AuditHead, type AuditRecord, type Parsed, records } from "./records.ts";

export const AUDIT_PAGE = 200;

export interface AuditEnds {
  readonly head: AuditHead;
  /** Null: the tree has every record. */
  readonly anchor: AuditAnchor | null;
  readonly anchorVersion: number;
  /** The first record that the tree still has, or will have. */
  readonly first: number;
}

export type AuditEndsRead =
  | { readonly kind: "found"; readonly ends: AuditEnds }
  | { readonly kind: "broken"; readonly path: string; readonly problem: string }
  | { readonly kind: "silence" };

/** Both from one moment: the removal moves one of them only. */
export async function readAuditEnds(session: Session): Promise<AuditEndsRead> {
  const answers = await session.readMany([{ get: paths.auditAnchor }, { get: paths.auditHead }]);
  if (!answers.ok) return { kind: "silence" };
  const [anchorNode, headNode] = [nodeOf(answers.value[0]), nodeOf(answers.value[1])];
  if (headNode === null) return broken(paths.auditHead, "is missing");
  const head = records.auditHead.decode(headNode.data);
  if (!head.ok) return broken(paths.auditHead, "cannot be read");
  if (anchorNode === null)
    return { kind: "found", ends: { head: head.value, anchor: null, anchorVersion: -1, first: 1 } };
  const anchor = records.auditAnchor.decode(anchorNode.data);
  if (!anchor.ok) return broken(paths.auditAnchor, "cannot be read");
  const { number, removed } = anchor.value;
  if (removed > number) return broken(paths.auditAnchor, "says that more is removed than is in the archive");
  if (number > head.value.number) return broken(paths.auditAnchor, "names a record that is not written yet");
  return {
    kind: "found",
    ends: {
      head: head.value,
      anchor: anchor.value,
      anchorVersion: anchorNode.stat.version,
      first: removed + 1,
    },
  };
}

const broken = (path: string, problem: string): AuditEndsRead => ({ kind: "broken", path, problem });

/** A record as it is stored: the chain is made of its bytes. */
export interface StoredAudit {
  readonly number: number;
  readonly record: AuditRecord;
  readonly data: Buffer;
  readonly hash: string;
  readonly version: number;
  /** By the server's clock. */
  readonly madeMs: number;
}

/** Null in place of a record that is missing or cannot be read. Null: no answer. */
export async function readAuditRecords(
  session: Session,
  numbers: readonly number[],
): Promise<readonly (StoredAudit | null)[] | null> {
  const answers = await session.readMany(numbers.map((number) => ({ get: paths.auditRecord(number) })));
  if (!answers.ok) return null;
  return numbers.map((number, i) => {
    const node = nodeOf(answers.value[i]);
    const read = node === null ? null : readAudit(node.data);
    if (node === null || read?.ok !== true) return null;
    const { data, stat } = node;
    return { number, record: read.value, data, hash: auditHash(data), version: stat.version, madeMs: stat.ctime };
  });
}

export const pageOf = (first: number, last: number): readonly number[] =>
  Array.from({ length: Math.max(0, Math.min(AUDIT_PAGE, last - first + 1)) }, (_, i) => first + i);

/** Bytes that are no UTF-8 would not survive as text: no record of ours has them. */
export function readAudit(data: Buffer): Parsed<AuditRecord> {
  if (!Buffer.from(data.toString("utf8")).equals(data)) return { ok: false, problem: "audit record: not UTF-8" };
  return records.auditRecord.decode(data);
}

/** Null when the record follows the one whose hash is given; a `previous` of null is not known. */
export function linkProblem(
  stored: Pick<StoredAudit, "record"> | null | undefined,
  number: number,
  previous: string | null,
): string | null {
  if (stored === null || stored === undefined) return "is missing or cannot be read";
  if (stored.record.number !== number) return `calls itself ${stored.record.number}`;
  return previous === null || stored.record.previous === previous ? null : "does not follow its predecessor";
}
