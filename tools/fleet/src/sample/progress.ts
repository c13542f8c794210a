/** How far a batch is, as one line. Pure. */
import { type BatchState, JOB_STATES, type JobState } from "@sluice/queue-core";

export interface Progress {
  readonly status: BatchState;
  readonly rows: number;
  readonly byState: ReadonlyMap<JobState, number>;
}

const BAR = 24;

/** `███░░  4/6  Downloading 1, Processing 1, Completed 4  (batch Processing)` */
export function progressLine({ status, rows, byState }: Progress): string {
  const ended = (byState.get("Completed") ?? 0) + (byState.get("Failed") ?? 0) + (byState.get("Deleted") ?? 0);
  const filled = rows === 0 ? 0 : Math.round((ended / rows) * BAR);
  const bar = "█".repeat(filled) + "░".repeat(BAR - filled);
  const where = JOB_STATES.flatMap((state) => {
    const count = byState.get(state) ?? 0;
    return count === 0 ? [] : [`${state} ${count}`];
  });
  return `${bar}  ${ended}/${rows}  ${where.join(", ") || "waiting to be expanded"}  (batch ${status})`;
}
