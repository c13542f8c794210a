/** What the depositor's system was told of a job, as the job's own history has it. Pure. */
import type { ProfileLookup } from "@sluice/profile-store";
import type { CalledBack, JobState } from "@sluice/queue-core";
import type { Callback, Job } from "@sluice/wire";

export interface Tellable {
  readonly job: Pick<Job, "status" | "message" | "last_modified" | "last_successful_status" | "events">;
  readonly profile: ProfileLookup;
  /** The news of its failure is still with the notifier. */
  readonly isQueued: boolean;
  /** What the notifier noted when that was over; null: nothing. */
  readonly called: CalledBack | null;
}

const TELLS: JobState = "Notify";
const BEFORE_TELLING: JobState = "Recording";
/** What the notifier writes where a profile lets its jobs go on. */
const NOT_DELIVERED = "not called back: ";

/** null: nothing was due so far, or its collection wants no callback. */
export function callbackOf({ job, profile, isQueued, called }: Tellable): Callback | null {
  const url = profile.ok ? profile.profile.callbackUrl : undefined;
  const to = url === undefined ? null : new URL(url).origin;
  if (profile.ok && url === undefined) return null;
  const tries = sinceResumed(job.events).filter(({ state, kind }) => state === TELLS && kind !== "takeover");
  const last = tries.at(-1);
  const detail = last?.detail ?? null;
  switch (job.status) {
    case TELLS:
      return last === undefined
        ? null
        : { about: "completed", outcome: "waiting", at: last.at, attempts: tries.length, to, detail };
    case "Completed": {
      const failed = job.message.startsWith(NOT_DELIVERED);
      const why = failed ? job.message.slice(NOT_DELIVERED.length) : null;
      const outcome = failed ? "not-delivered" : "delivered";
      return { about: "completed", outcome, at: last?.at ?? null, attempts: tries.length, to, detail: why };
    }
    case "Failed":
      // Stored and recorded: what could not be told is its completion, and nobody is told of a failure.
      if (job.last_successful_status === BEFORE_TELLING)
        return {
          about: "completed",
          outcome: "not-delivered",
          at: last?.at ?? null,
          attempts: tries.length,
          to,
          detail: job.message,
        };
      return { about: "failed", ...failureNews(job, isQueued, called), attempts: null, to };
    default:
      return null;
  }
}

function failureNews(
  { last_modified }: Tellable["job"],
  isQueued: boolean,
  called: CalledBack | null,
): Pick<Callback, "outcome" | "at" | "detail"> {
  if (isQueued || called === null) return { outcome: isQueued ? "waiting" : "over", at: last_modified, detail: null };
  const { atMs, delivered, detail } = called;
  return { outcome: delivered ? "delivered" : "not-delivered", at: new Date(atMs).toISOString(), detail };
}

/** What was tried before somebody resumed the job belongs to an older story. */
const sinceResumed = (events: Job["events"]): Job["events"] =>
  events.slice(events.findLastIndex(({ kind }) => kind === "resume") + 1);
