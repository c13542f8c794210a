/** Every record of the audit into the archive, in order, each behind the one that it follows. May be repeated from any point. */
import type { AuditArchive } from "@sluice/inventory";
import {
  AUDIT_PAGE,
  type AuditEnds,
  linkProblem,
  pageOf,
  paths,
  readAuditRecords,
  type StoredAudit,
} from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { away, type AuditTrouble, trouble } from "./trouble.ts";

export interface Exported {
  readonly added: number;
  /** Of another past, which a restore of the tree has left. */
  readonly left: number;
}

export interface ExportParts {
  readonly session: Session;
  readonly archive: AuditArchive;
  readonly signal: AbortSignal;
  /** As the archive notes when a record was found to be of another past. */
  readonly at: string;
}

type Answered<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly trouble: AuditTrouble };

export async function exportAudit(parts: ExportParts, ends: AuditEnds): Promise<Answered<Exported>> {
  const start = await startOf(parts, ends);
  if (!start.ok) return start;
  let { next, previous } = start.value;
  let [added, left] = [0, 0];
  const { head } = ends;
  while (next <= head.number && !parts.signal.aborted) {
    const page = await readChain(parts.session, pageOf(next, head.number), previous);
    if (!page.ok) return page;
    const kept = await parts.archive.keepAudit(page.value.map(asArchived), parts.at);
    if (kept.kind !== "kept") return { ok: false, trouble: away(kept) };
    [added, left] = [added + kept.added, left + kept.left];
    next += page.value.length;
    previous = page.value.at(-1)?.hash ?? null;
  }
  const isBroken = next > head.number && previous !== null && previous !== head.hash;
  if (isBroken) return broken(`${paths.auditHead} does not name the last record`);
  return { ok: true, value: { added, left } };
}

const asArchived = ({ number, hash, data }: StoredAudit) => ({ number, hash, record: data.toString("utf8") });

const broken = (why: string) => ({ ok: false, trouble: trouble("broken-chain", why) }) as const;

/** Records with these numbers, each following the one before; `previous` is the hash before the first, null = not known. */
async function readChain(
  session: Session,
  numbers: readonly number[],
  previous: string | null,
): Promise<Answered<readonly StoredAudit[]>> {
  const found = await readAuditRecords(session, numbers);
  if (found === null) return { ok: false, trouble: trouble("silence", "ZooKeeper does not answer") };
  const chain: StoredAudit[] = [];
  for (const [i, number] of numbers.entries()) {
    const stored = found[i] ?? null;
    const problem = linkProblem(stored, number, chain.at(-1)?.hash ?? previous);
    if (stored === null || problem !== null) return broken(`${paths.auditRecord(number)} ${problem ?? "is missing"}`);
    chain.push(stored);
  }
  return { ok: true, value: chain };
}

interface Start {
  readonly next: number;
  /** Null where the record before is gone from the tree, and the anchor names a later one. */
  readonly previous: string | null;
}

/**
 * Behind the last record that tree and archive have in common. It is the archive's last one, unless the tree was
 * restored: then the two part somewhere before, and it is looked for page by page.
 */
async function startOf({ session, archive }: ExportParts, ends: AuditEnds): Promise<Answered<Start>> {
  const end = await archive.auditEnd();
  if (end.kind === "unavailable") return { ok: false, trouble: away(end) };
  let last = Math.min(end.kind === "found" ? end.value.number : 0, ends.head.number);
  while (last >= ends.first) {
    const first = Math.max(ends.first, last - AUDIT_PAGE + 1);
    const page = await readAuditRecords(session, pageOf(first, last));
    if (page === null) return { ok: false, trouble: trouble("silence", "ZooKeeper does not answer") };
    const known = await archive.knownAudit(page.flatMap((stored) => stored?.hash ?? []));
    if (known.kind !== "found") return { ok: false, trouble: away(known) };
    const common = page.findLast((stored) => stored !== null && known.value.has(stored.hash));
    if (common) return { ok: true, value: { next: common.number + 1, previous: common.hash } };
    last = first - 1;
  }
  return { ok: true, value: { next: ends.first, previous: hashBefore(ends) } };
}

/** Of the record before the first one that the tree has. */
function hashBefore({ anchor }: AuditEnds): string | null {
  if (anchor === null) return "";
  return anchor.removed === anchor.number ? anchor.hash : anchor.removed === 0 ? "" : null;
}
