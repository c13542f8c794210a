import type { StoredJob } from "../records.ts";

type Ending = Pick<StoredJob, "leaving" | "grp" | "endedIn" | "cleared">;

/** Its record is there, and yet it is gone: its end, or its parent's, said so, or its group was never complete. */
export function isOver(job: Ending, parent: Ending | null, marks: ReadonlySet<string>): boolean {
  if (job.leaving === true || parent?.leaving === true) return true;
  if (job.grp !== undefined && !marks.has(job.grp)) return true;
  return parent !== null && job.endedIn !== undefined && job.endedIn < (parent.cleared ?? 0);
}
