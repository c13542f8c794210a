/** A job that one wrote who had lost it, as this fleet had left it: what its history still tells. */
import { leftIn } from "./fleet-job.ts";
import { type FleetJob, type JobStatus, knownEvent } from "./records.ts";
import type { JobState } from "./states.ts";
import { jobRow, predecessor } from "./transitions.ts";

/** null: only a newer version knows where it was. */
export function statusAsLeft(job: FleetJob, now: JobStatus, at: string): JobStatus | null {
  const status = leftIn(job);
  if (status === null) return null;
  return {
    status,
    last_modified: at,
    last_successful_status: lastSuccess(job),
    // Whoever wrote it wrote down what it knew of resumes: since then there may have been more.
    retry_count: Math.max(now.retry_count, resumes(job)),
    message: `put back: another program had written ${now.status}`,
  };
}

function lastSuccess({ events }: FleetJob): JobState | null {
  for (const raw of [...events].reverse()) {
    const event = knownEvent(raw);
    if (event === null) continue;
    const { kind, state, to } = event;
    if (kind === "done" || (kind === "beside" && to === jobRow(state).done)) return state;
    if (kind === "resume" && to !== null) return predecessor(to);
    if (kind === "create" || kind === "adopt") return predecessor(state);
  }
  return null;
}

const resumes = ({ events }: FleetJob): number => events.filter(([, , kind]) => kind === "resume").length;
