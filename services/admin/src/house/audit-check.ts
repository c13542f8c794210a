/**
 * Whether the audit is whole: the archive from its first record to the last that was removed from the tree, the signed anchors
 * on the way, and the tree from there to the head as it was when we began. What is added meanwhile is for the next time.
 */
import {
  type AnchorVerifier,
  AUDIT_PAGE,
  type AuditEnds,
  auditHash,
  linkProblem,
  pageOf,
  readAudit,
  readAuditEnds,
  readAuditRecords,
  records,
} from "@sluice/queue-core";
import type { AuditVerdict } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";
import { type AuditReading, NO_ARCHIVE } from "./audit-list.ts";

const ROWS_PER_READ = 1_000;

export interface CheckedWith {
  readonly archive: AuditReading | null;
  /** Null: nobody said whose signatures count. */
  readonly verifier: AnchorVerifier | null;
}

/** What was found of the archive, so far. */
interface Checked {
  archived: number;
  anchors: number;
  previous: string;
  problem: string | null;
}

/** null = no answer. */
export async function checkAudit(session: Session, parts: CheckedWith): Promise<AuditVerdict | null> {
  const read = await readAuditEnds(session);
  if (read.kind === "silence") return null;
  if (read.kind === "broken") return verdict(0, NOTHING, `${read.path} ${read.problem}`);
  const { ends } = read;
  const checked = await checkArchive(ends, parts);
  const left = await parts.archive?.leftAudit();
  const found = left?.kind === "found" ? left.value : null;
  const problem = checked.problem ?? (await treeProblem(session, ends, checked.previous));
  if (problem === undefined) return null;
  const signatures = parts.verifier === null ? "not-checked" : "checked";
  return { ...verdict(ends.head.number, checked, problem), left: found, signatures };
}

const NOTHING: Checked = { archived: 0, anchors: 0, previous: "", problem: null };

const verdict = (all: number, { archived, anchors }: Checked, problem: string | null): AuditVerdict => ({
  records: all,
  archived,
  anchors,
  signatures: "not-checked",
  left: null,
  whole: problem === null,
  problem,
});

async function checkArchive(ends: AuditEnds, { archive, verifier }: CheckedWith): Promise<Checked> {
  const { anchor } = ends;
  if (anchor === null) return NOTHING;
  if (archive === null) return { ...NOTHING, problem: NO_ARCHIVE };
  const checked: Checked = { ...NOTHING };
  const signed = await signedAnchors(archive, verifier, ends);
  if (typeof signed === "string") return { ...NOTHING, problem: signed };
  const failed = (problem: string): Checked => ({ ...checked, problem });
  while (checked.archived < anchor.removed) {
    const page = await archive.listAudit({ after: checked.archived, limit: ROWS_PER_READ });
    if (page.kind !== "found") return failed("the archive does not answer");
    const rows = page.value.filter(({ number }) => number <= anchor.removed);
    if (rows.length === 0) return failed(missing(checked.archived + 1, anchor.removed));
    for (const row of rows) {
      const number = checked.archived + 1;
      if (row.number !== number) return failed(missing(number, row.number - 1));
      const data = Buffer.from(row.record);
      const record = readAudit(data);
      const problem = linkProblem(record.ok ? { record: record.value } : null, number, checked.previous);
      if (problem !== null) return failed(`archived record ${number} ${problem}`);
      checked.previous = auditHash(data);
      if (checked.previous !== row.hash) return failed(`archived record ${number} has another hash than its row says`);
      // Anchors of a past that a restore has left name other records.
      if (signed.get(number)?.has(checked.previous) === true) checked.anchors += 1;
      checked.archived = number;
    }
  }
  if (anchor.removed === anchor.number && anchor.hash !== checked.previous)
    return failed(`the anchor in the tree names another record ${anchor.number} than the archive has`);
  return checked;
}

const missing = (first: number, last: number): string =>
  `records ${first} to ${last} are missing: they were removed from the tree, and the archive does not have them`;

/** By number, the hashes that were signed there. A text: what is wrong with one of them. */
async function signedAnchors(
  archive: AuditReading,
  verifier: AnchorVerifier | null,
  { anchor }: AuditEnds,
): Promise<ReadonlyMap<number, ReadonlySet<string>> | string> {
  const signed = new Map<number, Set<string>>();
  const take = (raw: Buffer): string | null => {
    const decoded = records.auditAnchor.decode(raw);
    if (!decoded.ok) return `an anchor cannot be read: ${decoded.problem}`;
    const { number, hash, key, fleet } = decoded.value;
    const judged = verifier?.verify(decoded.value);
    if (judged === "bad") return `the signature of the anchor at record ${number} is wrong`;
    if (judged === "unknown-key")
      return `the anchor at record ${number} is signed with key ${key}, which is not in AUDIT_PUBLIC_KEYS_FILE`;
    if (fleet !== anchor?.fleet) return `the anchor at record ${number} is of another fleet`;
    signed.set(number, (signed.get(number) ?? new Set()).add(hash));
    return null;
  };
  const inTree = anchor === null ? null : take(records.auditAnchor.encode(anchor));
  if (inTree !== null) return inTree;
  for (let after = 0; ;) {
    const page = await archive.listAuditAnchors(after, ROWS_PER_READ);
    if (page.kind !== "found") return "the archive does not answer";
    for (const row of page.value) {
      const problem = take(Buffer.from(JSON.stringify({ ...asObject(row.anchor), removed: 0 })));
      if (problem !== null) return problem;
    }
    const last = page.value.at(-1);
    if (last === undefined || page.value.length < ROWS_PER_READ) return signed;
    after = last.number;
  }
}

function asObject(json: string): object {
  try {
    const parsed: unknown = JSON.parse(json);
    return typeof parsed === "object" && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

/** Null: the tree's part is whole. Undefined: no answer. */
async function treeProblem(session: Session, ends: AuditEnds, before: string): Promise<string | null | undefined> {
  let previous = before;
  for (let next = ends.first; next <= ends.head.number; next += AUDIT_PAGE) {
    const numbers = pageOf(next, ends.head.number);
    const found = await readAuditRecords(session, numbers);
    if (found === null) return undefined;
    for (const [i, number] of numbers.entries()) {
      const problem = linkProblem(found[i], number, previous);
      if (problem !== null) return `record ${number} ${problem}`;
      previous = found[i]?.hash ?? "";
      if (number === ends.anchor?.number && previous !== ends.anchor.hash)
        return `the anchor names another record ${number} than the tree has`;
    }
  }
  return previous === ends.head.hash ? null : "the last record is not the one that the head names";
}
