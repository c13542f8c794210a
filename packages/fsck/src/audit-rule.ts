/**
 * The audit's chain, from behind the anchor (its first record, where there is none) to the head as it was when we began.
 * What is in the archive is checked by the admin, which can read it.
 */
import {
  allowsRemoval,
  type AuditEnds,
  linkProblem,
  pageOf,
  paths,
  readAuditEnds,
  readAuditRecords,
} from "@sluice/queue-core";
import { isOpen, type Session } from "@sluice/zookeeper";
import type { Suspicion } from "./facts.ts";

const HUMAN = "the audit cannot be repaired, only explained: keep a snapshot, and find out who could write to the tree";
const CLOSE = "the reporter closes it with its next run; `sluice secure --zookeeper HOSTS` closes it now";
/** Removals take seconds; a process that dies in one leaves the list open until the next run. */
const OPEN_MAX_MS = 2 * 3_600_000;

const say = (path: string, what: string): readonly Suspicion[] => [
  { rule: "I-37", path, what, sinceMs: null, mend: { human: HUMAN } },
];

/** null = no answer. */
export async function judgeAudit(session: Session, pause: () => Promise<void>): Promise<readonly Suspicion[] | null> {
  const read = await readAuditEnds(session);
  if (read.kind === "silence") return null;
  if (read.kind === "broken") return say(read.path, read.problem);
  const chain = await judgeChain(session, read.ends, pause);
  const list = await judgeList(session);
  return chain === null || list === null ? null : [...chain, ...list];
}

async function judgeChain(
  session: Session,
  { head, anchor, first }: AuditEnds,
  pause: () => Promise<void>,
): Promise<readonly Suspicion[] | null> {
  // While a removal is in progress the first record's predecessor is gone, and the anchor is further on.
  let previous = anchor === null ? "" : anchor.removed === anchor.number ? anchor.hash : null;
  for (let next = first; next <= head.number;) {
    const numbers = pageOf(next, head.number);
    const found = await readAuditRecords(session, numbers);
    if (found === null) return null;
    // What was removed since we read the anchor is not missing.
    const now = found[0] === null ? await readAuditEnds(session) : null;
    if (now?.kind === "silence") return null;
    if (now?.kind === "found" && now.ends.first > next) return await judgeChain(session, now.ends, pause);
    for (const [i, number] of numbers.entries()) {
      const stored = found[i] ?? null;
      const problem = linkProblem(stored, number, previous);
      if (problem !== null || stored === null) return say(paths.auditRecord(number), problem ?? "is missing");
      if (number === anchor?.number && stored.hash !== anchor.hash)
        return say(paths.auditAnchor, `names another record ${number} than the tree has`);
      previous = stored.hash;
    }
    next += numbers.length;
    await pause();
  }
  return previous === null || previous === head.hash ? [] : say(paths.auditHead, "does not name the last record");
}

/** Between removals nobody may remove a record, where nodes have owners. */
async function judgeList(session: Session): Promise<readonly Suspicion[] | null> {
  if (isOpen(session.aclOf(paths.auditRecords))) return [];
  const list = await session.getAcl(paths.auditRecords);
  if (!list.ok) return list.code === "NO_NODE" ? [] : null;
  // One that is open to everyone is another finding.
  if (isOpen(list.value.entries) || !allowsRemoval(list.value.entries)) return [];
  const anchor = await session.exists(paths.auditAnchor);
  if (!anchor.ok) return null;
  const sinceMs = anchor.value?.mtime ?? null;
  const what = "allows to remove records, and no removal is in progress";
  return [{ rule: "ACL", path: paths.auditRecords, what, sinceMs, warnForMs: OPEN_MAX_MS, mend: { human: CLOSE } }];
}
