/** The newest failed jobs, grouped by the reason of their failure. */
import { codeOfMessage, ERROR_CODES, type JobId, paths, type QueueEntry, records } from "@sluice/queue-core";
import { rfc3339 } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";

/** Older ones say nothing new, and each costs a read. */
const FAILED_LOOKED_AT = 500;
const OTHER = "OTHER";

export interface Failed {
  readonly id: JobId;
  readonly code: string;
  readonly message: string;
  readonly at: string | null;
}

/** By number, the highest first: the listing has them by priority. */
const newest = (entries: readonly QueueEntry[], count: number): readonly JobId[] =>
  entries
    .map(({ id }) => id)
    .sort((a, b) => (a < b ? 1 : -1))
    .slice(0, count);

/** null = no answer. */
export async function readFailed(session: Session, entries: readonly QueueEntry[]): Promise<readonly Failed[] | null> {
  const ids = newest(entries, FAILED_LOOKED_AT);
  if (ids.length === 0) return [];
  const answers = await session.readEach(ids.map((id) => ({ get: paths.jobStatus(id) })));
  if (!answers.ok) return null;
  return ids.flatMap((id, i) => {
    const answer = answers.value[i];
    const status = answer?.kind === "node" ? records.jobStatus.decode(answer.node.data) : null;
    if (status?.ok !== true || status.value.status !== "Failed") return [];
    const { message, last_modified } = status.value;
    return [{ id, code: codeOfMessage(message) ?? OTHER, message, at: rfc3339(last_modified) }];
  });
}

/** The largest group first. */
export function groupFailures(failed: readonly Failed[]) {
  const groups = new Map<string, { count: number; readonly example: Failed }>();
  for (const job of failed) {
    const group = groups.get(job.code);
    if (group === undefined) groups.set(job.code, { count: 1, example: job });
    else group.count += 1;
  }
  return [...groups]
    .sort(([, a], [, b]) => b.count - a.count)
    .map(
      ([
        code,
        {
          count,
          example: { id, message, at },
        },
      ]) => ({ code, count, ...meaningOf(code), example: { id, message, at } }),
    );
}

/** For those who see the fleet: they are no depositors. */
function meaningOf(code: string): { readonly says: string; readonly remedy: string } {
  const row = Object.entries(ERROR_CODES).find(([known]) => known === code)?.[1];
  return row === undefined
    ? { says: "a message without a code of ours", remedy: "read the message and the job's history" }
    : { says: row.says, remedy: row.operator };
}
