/** Fencing, for jobs and batches alike: who writes holds the lock, with the newest token, and lets go with the move. */
import { moveOf } from "./job-move-rules.ts";
import type { Finding, InvariantId } from "./names.ts";
import type { Part } from "./parts.ts";
import type { Author, BatchChange, JobChange, LockView } from "./views.ts";
import { mayWriteBatch, mayWriteJob } from "./without-lock.ts";

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
    const { before, after } = change;
    if (!before.exists && !after.exists) return null;
    return holdsLock(change) || mayWriteJob(change) ? null : foreignWrite(change);
  },

  "I-20": ({ before, after, author }) => staleEpoch(before, after, author, "its"),

  "I-21": (change) => {
    const move = moveOf(change);
    if (move === null || change.after.lock === null) return null;
    return `${move.from.status} → ${move.to.status} and the lock stayed`;
  },
};

interface Write {
  readonly before: Locked;
  readonly after: Locked;
  readonly author: Author;
  readonly wrote: ReadonlySet<Part>;
}

/** It had the lock, or has taken it from nobody. */
const holdsLock = ({ before, after, author }: Write): boolean =>
  owns(before, author) || (before.lock === null && owns(after, author));

function foreignWrite({ before, after, author, wrote }: Write): Finding {
  if (wrote.size === 0) return null;
  const who = `${author.role} (${sessionName(author.session)})`;
  const what = [...wrote].sort().join(", ");
  if (!before.exists) return `made by ${who} without the lock of its batch`;
  if (!after.exists) return `removed by ${who}`;
  const owner = before.lock === null ? "nobody" : sessionName(before.lock.owner);
  const unnamed = author.role === "operator" ? " and left no record in the audit" : "";
  return `${who} wrote ${what}, while the lock was held by ${owner}${unnamed}`;
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
  "I-19": (change) => (holdsLock(change) || mayWriteBatch(change) ? null : foreignWrite(change)),

  "I-20": ({ before, after, author }) => staleEpoch(before, after, author, "the batch's"),

  "I-21": ({ after }) => {
    const state = after.status?.status;
    const atRest = state === "Held" || state === "Completed" || state === "Deleted";
    return atRest && after.lock !== null ? `locked, though ${state}` : null;
  },

  "I-22": ({ after }) => (after.lock?.owner === 0n ? "its lock is not ephemeral and never goes by itself" : null),
};
