/** Who changed a thing last: what somebody who came too late is told. */
import type { Session } from "@sluice/zookeeper";
import { isAmongJobs } from "./audit.ts";
import { parseJobId } from "./ids.ts";
import { paths } from "./paths.ts";
import { type AuditRecord, type FleetJob, records } from "./records.ts";
import { formatTimestamp } from "./timestamp.ts";

export interface LastChange {
  /** A worker, or an operator's name. */
  readonly actor: string;
  readonly action: string;
  readonly at: string;
}

/** How far back the audit is searched: what was overtaken, was overtaken a moment ago. */
export const AUDIT_RECORDS_BACK = 200;

/** The last thing that the job's own history tells; a change of priority is only in the audit. */
export function lastChangeOf({ events }: FleetJob): LastChange | undefined {
  const last = events.at(-1);
  if (last === undefined) return undefined;
  const [, at, kind, , by] = last;
  return { actor: by, action: kind, at: formatTimestamp(at * 1000) };
}

/** The latest operator's action on `target` among the last records of the audit. */
export async function lastAudited(session: Session, target: string): Promise<LastChange | undefined> {
  const node = await session.get(paths.auditHead);
  const head = node.ok ? records.auditHead.decode(node.value.data) : null;
  if (head?.ok !== true || head.value.number === 0) return undefined;
  const oldest = Math.max(1, head.value.number - AUDIT_RECORDS_BACK + 1);
  const numbers = Array.from({ length: head.value.number - oldest + 1 }, (_, i) => head.value.number - i);
  const answers = await session.readMany(numbers.map((number) => ({ get: paths.auditRecord(number) })));
  for (const answer of answers.ok ? answers.value : []) {
    const record = answer.kind === "node" ? records.auditRecord.decode(answer.node.data) : null;
    if (record?.ok !== true || !isAbout(record.value, target)) continue;
    return { actor: record.value.actor, action: record.value.action, at: record.value.at };
  }
  return undefined;
}

function isAbout(record: AuditRecord, target: string): boolean {
  const job = parseJobId(target);
  return record.target === target || (job !== null && isAmongJobs(record, job) === true);
}
