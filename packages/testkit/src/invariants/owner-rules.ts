/** Fencing, for jobs and batches alike: who writes holds the lock, with the newest token, and lets go with the move. */
import { goesWithBatch, moveOf } from "./job-move-rules.ts";
import type { Finding, InvariantId } from "./names.ts";
import { namesOperator, operatesBatch } from "./operators.ts";
import type { Author, BatchChange, JobChange, JobView, LockView } from "./views.ts";

interface Locked {
  readonly exists: boolean;
  readonly lock: LockView | null;
  readonly statusVersion: number;
}

const owns = (view: Locked, { session }: Author): boolean => view.lock?.owner === session;
const wroteStatus = (before: Locked, after: Locked): boolean => before.statusVersion !== after.statusVersion;
const sessionName = (session: bigint): string => `session 0x${session.toString(16)}`;

export const JOB_OWNER_RULES: Partial<Record<InvariantId, (change: JobChange) => Finding>> = {
  "I-19": (change) => {
    const { before, after, author } = change;
    if (!before.exists || !after.exists) return null;
    if (owns(before, author) || owns(after, author)) return null;
    if (goesWithBatch(change, after.status?.status ?? "Pending")) return null;
    if (author.role === "operator") return anonymous(change);
    const what = foreignWrite(before, after);
    return what === null || namesOperator(change) ? null : `${author.role} (${sessionName(author.session)}) ${what}`;
  },

  "I-20": ({ before, after, author }) => staleEpoch(before, after, author, "its"),

  "I-21": (change) => {
    const move = moveOf(change);
    if (move === null || change.after.lock === null) return null;
    return `${move.from.status} → ${move.to.status} and the lock stayed`;
  },
};

/** People need no lock, but a name. What they write besides the status is their business. */
function anonymous(change: JobChange): Finding {
  const { before, after, author } = change;
  if (!wroteStatus(before, after) || author.audited || namesOperator(change)) return null;
  return `${sessionName(author.session)} wrote the status with neither the lock nor an operator's name`;
}

function foreignWrite(before: JobView, after: JobView): Finding {
  const owner = before.lock === null ? "nobody" : sessionName(before.lock.owner);
  if (wroteStatus(before, after)) return `wrote the status, while the lock was held by ${owner}`;
  if (before.lock !== null && after.lock === null) return `removed the lock of ${owner}`;
  return before.dataZxid === after.dataZxid ? null : `wrote data, while the lock was held by ${owner}`;
}

/** The token is the status version that the claim made. Whoever writes meanwhile moves it, and the owner is fenced out. */
function staleEpoch(before: Locked, after: Locked, author: Author, whose: string): Finding {
  const claimed = after.lock !== null && after.lock.zxid === author.zxid;
  if (claimed && before.lock === null && before.exists && !wroteStatus(before, after)) {
    return `claimed without a new version of ${whose} status`;
  }
  if (before.lock === null || !owns(before, author) || !wroteStatus(before, after)) return null;
  const { token } = before.lock;
  return before.statusVersion === token
    ? null
    : `written with token ${token}, though ${whose} status was at version ${before.statusVersion}`;
}

export const BATCH_OWNER_RULES: Partial<Record<InvariantId, (change: BatchChange) => Finding>> = {
  "I-19": (change) => {
    const { before, after, author } = change;
    if (!before.exists || !after.exists || operatesBatch(change)) return null;
    if (owns(before, author) || owns(after, author)) return null;
    // The gate needs no lock: that no job is left is proven in the transaction itself.
    const gate = before.status?.status === "Processing" && after.status?.status === "Reporting";
    if (!wroteStatus(before, after) || gate) return null;
    return `${author.role} (${sessionName(author.session)}) wrote the status without the lock`;
  },

  "I-20": ({ before, after, author }) => staleEpoch(before, after, author, "the batch's"),

  "I-21": ({ after }) => {
    const state = after.status?.status;
    const atRest = state === "Held" || state === "Completed" || state === "Deleted";
    return atRest && after.lock !== null ? `locked, though ${state}` : null;
  },

  "I-22": ({ after }) => (after.lock?.owner === 0n ? "its lock is not ephemeral and never goes by itself" : null),
};
