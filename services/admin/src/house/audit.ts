/** The audit as a list, newest first, and as a chain that must be whole. */
import { auditHash, type AuditRecord, isAmongJobs, parseJobId, paths, records } from "@sluice/queue-core";
import { type AuditView, rfc3339 } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";

const RECORDS_PER_READ = 200;
/** With a filter that few records pass, a page is short, and goes on. */
const SCANNED_MAX = 2_000;

export interface AuditQuery {
  readonly actor?: string | undefined;
  readonly target?: string | undefined;
  /** Only records before this one. */
  readonly before?: number | undefined;
  readonly limit: number;
}

export interface AuditPage {
  readonly items: readonly AuditView[];
  readonly next: number | null;
}

/** null = no answer. */
export async function readAudit(session: Session, query: AuditQuery): Promise<AuditPage | null> {
  const head = await readHead(session);
  if (head === null) return null;
  const items: AuditView[] = [];
  let at = Math.min(head.number, (query.before ?? head.number + 1) - 1);
  const last = Math.max(0, at - SCANNED_MAX);
  while (at > last && items.length < query.limit) {
    const numbers = Array.from({ length: Math.min(RECORDS_PER_READ, at - last) }, (_, i) => at - i);
    const found = await readRecords(session, numbers);
    if (found === null) return null;
    for (const stored of found) {
      if (items.length === query.limit) break;
      at -= 1;
      if (stored !== null && isWanted(stored.record, query)) items.push(viewOf(stored));
    }
  }
  return { items, next: at > 0 ? at + 1 : null };
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

export interface ChainVerdict {
  readonly records: number;
  readonly whole: boolean;
  readonly problem: string | null;
}

/** The whole chain, a few hundred records at a time; what is added meanwhile is looked at the next time. null = no answer. */
export async function checkChain(session: Session): Promise<ChainVerdict | null> {
  const head = await readHead(session);
  if (head === null) return null;
  const verdict = (problem: string | null): ChainVerdict => ({
    records: head.number,
    whole: problem === null,
    problem,
  });
  let previous = "";
  for (let first = 1; first <= head.number; first += RECORDS_PER_READ) {
    const length = Math.min(RECORDS_PER_READ, head.number - first + 1);
    const found = await readRecords(
      session,
      Array.from({ length }, (_, i) => first + i),
    );
    if (found === null) return null;
    for (const [i, stored] of found.entries()) {
      if (stored === null) return verdict(`record ${first + i} is missing or cannot be read`);
      const { record } = stored;
      if (record.number !== first + i) return verdict(`record ${first + i} calls itself ${record.number}`);
      if (record.previous !== previous) return verdict(`record ${record.number} does not follow its predecessor`);
      previous = stored.hash;
    }
  }
  return verdict(previous === head.hash ? null : "the last record is not the one that the head names");
}

async function readHead(session: Session) {
  const node = await session.get(paths.auditHead);
  const head = node.ok ? records.auditHead.decode(node.value.data) : null;
  return head?.ok === true ? head.value : null;
}

interface Stored {
  readonly record: AuditRecord;
  readonly hash: string;
}

async function readRecords(session: Session, numbers: readonly number[]): Promise<(Stored | null)[] | null> {
  const answers = await session.readMany(numbers.map((number) => ({ get: paths.auditRecord(number) })));
  if (!answers.ok) return null;
  return answers.value.map((answer) => {
    if (answer.kind !== "node") return null;
    const { data } = answer.node;
    const record = records.auditRecord.decode(data);
    return record.ok ? { record: record.value, hash: auditHash(data) } : null;
  });
}
