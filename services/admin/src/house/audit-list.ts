/** The audit as a list, newest first: from the tree, and behind its anchor from the archive. */
import type { AuditArchive } from "@sluice/inventory";
import {
  type AuditRecord,
  auditHash,
  isAmongJobs,
  pageOf,
  parseJobId,
  readAudit,
  readAuditEnds,
  readAuditRecords,
} from "@sluice/queue-core";
import { type AuditView, rfc3339 } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";

/** With a filter that few records pass, a page is short, and goes on. */
const SCANNED_MAX = 2_000;
const ROWS_PER_READ = 200;

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  /** Only records before this one. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export type AuditPage =
  | { readonly kind: "page"; readonly items: readonly AuditView[]; readonly next: number | null }
  /** ZooKeeper does not answer. */
  | { readonly kind: "silence" }
  /** The page begins in the archive, which is not there, or does not answer. */
  | { readonly kind: "no-archive"; readonly why: string };

export type AuditReading = Pick<AuditArchive, "listAudit" | "listAuditAnchors" | "leftAudit">;

export const NO_ARCHIVE = "older records are in the archive: INVENTORY_URL is not set here";

interface Stored {
  readonly number: number;
  readonly record: AuditRecord;
  readonly hash: string;
}

interface Read {
  readonly found: readonly Stored[];
  /** The last number that was looked at; 0: there are no more. */
  readonly until: number;
}

export async function listAudit(session: Session, archive: AuditReading | null, query: AuditQuery): Promise<AuditPage> {
  const read = await readAuditEnds(session);
  if (read.kind !== "found") return { kind: "silence" };
  const { head, first } = read.ends;
  const items: AuditView[] = [];
  let at = Math.min(head.number, (query.before ?? head.number + 1) - 1);
  const begun = at;
  while (at > Math.max(0, begun - SCANNED_MAX) && items.length < query.limit) {
    const some = at >= first ? await fromTree(session, first, at) : await fromArchive(archive, at);
    if (some === null) return { kind: "silence" };
    if (typeof some === "string") {
      if (at === begun) return { kind: "no-archive", why: some };
      break;
    }
    for (const stored of some.found) {
      if (items.length === query.limit) break;
      at = stored.number - 1;
      if (isWanted(stored.record, query)) items.push(viewOf(stored));
    }
    if (items.length < query.limit) at = some.until - 1;
  }
  return { kind: "page", items, next: at > 0 ? at + 1 : null };
}

/** Null: no answer. */
async function fromTree(session: Session, first: number, last: number): Promise<Read | null> {
  const numbers = pageOf(Math.max(first, last - ROWS_PER_READ + 1), last).toReversed();
  const found = await readAuditRecords(session, numbers);
  return found && { found: found.flatMap((stored) => stored ?? []), until: numbers.at(-1) ?? 0 };
}

/** A text says why there is nothing to read. */
async function fromArchive(archive: AuditReading | null, last: number): Promise<Read | string> {
  if (archive === null) return NO_ARCHIVE;
  const rows = await archive.listAudit({ before: last + 1, limit: ROWS_PER_READ });
  if (rows.kind === "unavailable") return "older records are in the archive, which does not answer";
  if (rows.kind === "none") return { found: [], until: 0 };
  const found = rows.value.flatMap(({ number, record }) => {
    const data = Buffer.from(record);
    const decoded = readAudit(data);
    return decoded.ok ? [{ number, record: decoded.value, hash: auditHash(data) }] : [];
  });
  return { found, until: rows.value.length < ROWS_PER_READ ? 0 : (rows.value.at(-1)?.number ?? 0) };
}

/** `actor` finds by name and by the caller's id. */
function isWanted(record: AuditRecord, query: AuditQuery): boolean {
  const { actor, caller, target } = record;
  const job = parseJobId(query.target ?? "");
  return (
    (query.actor === undefined || actor === query.actor || caller === query.actor) &&
    (query.target === undefined || target === query.target || (job !== null && isAmongJobs(record, job) === true))
  );
}

const viewOf = ({ record, hash }: Stored): AuditView => ({
  number: record.number,
  at: rfc3339(record.at),
  actor: record.actor,
  caller: record.caller ?? null,
  action: record.action,
  target: record.target,
  reason: record.reason,
  jobs: record.jobs?.count ?? null,
  hash,
});
