/** What a step of a job leaves behind: an event, a counted attempt, a callback. */
import { paths } from "@sluice/queue-core";
import { historyOf, isTailOf, newEvents } from "./history.ts";
import { moveOf } from "./job-move-rules.ts";
import type { Finding, InvariantId } from "./names.ts";
import type { JobChange } from "./views.ts";

export const JOB_HISTORY_RULES: Partial<Record<InvariantId, (change: JobChange) => Finding>> = {
  "L-02": (change) => {
    const move = moveOf(change);
    if (move === null || !change.after.exists) return null;
    const edge = `${move.from.status} → ${move.to.status}`;
    const added = newEvents(change).length;
    if (added !== 1) return `${edge} added ${added} events to its history`;
    return addsToEnd(change) ? null : `${edge} changed what its history said before`;
  },

  "L-03": (change) => {
    const { before, after, author } = change;
    if (!before.exists || after.lock?.zxid !== author.zxid) return null;
    const [was, is] = [historyOf(before)?.attempts, historyOf(after)?.attempts];
    if (was === undefined || is === was + 1) return null;
    return `claimed, and its attempts went from ${was} to ${is ?? "nothing"}`;
  },

  "L-04": ({ before, after, author }) => {
    if (!after.exists || after.status?.status !== "Failed" || before.status?.status === "Failed") return null;
    const callback = paths.callback(after.id, after.status.retry_count);
    return author.callbacks.has(callback) ? null : `Failed without ${callback}`;
  },
};

/** The new one is the last. */
function addsToEnd({ before, after }: JobChange): boolean {
  const [was, is] = [historyOf(before)?.events ?? [], historyOf(after)?.events ?? []];
  return isTailOf(is.slice(0, -1), was);
}
