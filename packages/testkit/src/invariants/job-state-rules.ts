/** What must hold of a job after every transaction, however it came about. */
import { bucketOf, clampPriority, isFinal, isLive, isMerritts } from "@sluice/queue-core";
import { describeEntries } from "./job-model.ts";
import type { Finding, InvariantId } from "./names.ts";
import type { JobChange } from "./views.ts";

const REQUIRED_CHILDREN = ["bid", "configuration", "priority", "space_needed", "status"];

export const JOB_STATE_RULES: Partial<Record<InvariantId, (change: JobChange) => Finding>> = {
  "I-01": ({ after }) => {
    if (!after.exists || after.entries.length === 1) return null;
    if (after.entries.length > 1) return `in ${describeEntries(after)}`;
    // Swept: its entry goes before its nodes do.
    const swept = after.status !== null && isFinal(after.status.status);
    return swept ? null : `${after.status?.status ?? "without status"} and in no queue`;
  },

  "I-02": ({ after }) => {
    const { status, entries } = after;
    if (!after.exists || status === null) return null;
    const wrong = entries.filter(({ state }) => state !== status.status);
    return wrong.length === 0
      ? null
      : `status ${status.status}, entry in ${describeEntries({ ...after, entries: wrong })}`;
  },

  "I-03": ({ after }) => {
    const { priority, entries } = after;
    if (!after.exists || priority === null) return null;
    const wrong = entries.filter((entry) => entry.priority !== clampPriority(priority));
    return wrong.length === 0 ? null : `priority ${priority}, entry ${describeEntries({ ...after, entries: wrong })}`;
  },

  "I-04": ({ after }) => {
    if (!after.exists || after.buckets.length === 1) return null;
    const places = after.buckets.map(({ batch, bucket }) => `${batch}/${bucket}`).join(" and ");
    return places === "" ? "in no bucket of its batch" : `in ${places}`;
  },

  "I-05": ({ after }) => {
    const { status, buckets } = after;
    if (!after.exists || status === null) return null;
    const wrong = buckets.find(({ bucket }) => bucket !== bucketOf(status.status));
    return wrong === undefined ? null : `status ${status.status}, but in ${wrong.bucket}`;
  },

  "I-06": ({ after, batch }) => {
    if (!after.exists) return null;
    if (batch?.exists !== true) return `its batch ${after.batch ?? "(none)"} does not exist`;
    const stranger = after.buckets.find((place) => place.batch !== after.batch);
    return stranger === undefined ? null : `of ${after.batch ?? ""}, but listed by ${stranger.batch}`;
  },

  "I-07": ({ after }) => {
    if (after.entries.length === 0 && after.buckets.length === 0) return null;
    if (!after.exists) return `no such job, but listed in ${describePlaces(after)}`;
    return after.status === null ? `status missing or not readable, but listed in ${describePlaces(after)}` : null;
  },

  "I-08": ({ before, after, batch }) => {
    if (!after.exists) return before.exists ? removedEarly(batch?.status?.status) : leftover(after.children);
    const missing = REQUIRED_CHILDREN.filter((name) => !after.children.has(name));
    if (missing.length > 0) return `without ${missing.join(", ")}`;
    return after.history === null ? "without its node in /fleet/jobs" : null;
  },

  "I-21": ({ after }) => {
    if (after.lock === null || after.status === null) return null;
    if (isLive(after.status.status) || isMerritts(after.status.status)) return null;
    return `locked, though ${after.status.status}`;
  },

  "I-22": ({ after }) => (after.lock?.owner === 0n ? "its lock is not ephemeral and never goes by itself" : null),
};

const describePlaces = (job: JobChange["after"]): string =>
  [describeEntries(job), ...job.buckets.map(({ batch, bucket }) => `${batch}/${bucket}`)]
    .filter((place) => place !== "")
    .join(" and ");

/** Jobs go with their batch, and that only when nothing can happen to it any more. */
function removedEarly(batchState: string | undefined): Finding {
  return batchState === "Completed" || batchState === "Deleted"
    ? null
    : `removed while its batch is ${batchState ?? "gone"}`;
}

const leftover = (children: ReadonlySet<string>): Finding =>
  children.size === 0 ? null : `no node of its own, but ${[...children].join(", ")}`;
