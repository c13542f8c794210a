/** What parents and children do to each other. */
import { STEP_JOBS } from "../limits.ts";
import type { Job } from "../records.ts";
import { changed, moved } from "./job.ts";
import type { Shard } from "./shard.ts";

/** After a child has ended or gone: a parent that waits for nobody runs again; one that has ended goes with its last child. */
export function wakeParentOf(shard: Shard, child: Job, now: number): void {
  const id = child.parent;
  const parent = id === undefined ? null : shard.job(id);
  if (id === undefined || parent === null) return;
  const family = shard.family(id);
  if (parent.state === "PAUSED" && family.pending.size === 0) shard.put(id, moved(parent, "wake", "QUEUED", now), now);
  if (parent.state !== "FINISHED" || family.ids.size > family.ended.size) return;
  const cleared = clearEnded(shard, id, parent);
  removeParent(shard, id, parent, cleared, now);
}

/**
 * The parent has seen which of its children ended: they go. Many of them go in steps, later: until then the parent's
 * counter, which its record must carry from now on, says that they are gone. Answers the record's changes.
 */
export function clearEnded(shard: Shard, id: number, parent: Job): { readonly cleared?: number } {
  const ended = [...shard.family(id).ended];
  for (const child of ended) {
    if (ended.length <= STEP_JOBS) shard.remove(child);
    else shard.bury(child);
  }
  return ended.length <= STEP_JOBS ? {} : { cleared: (parent.cleared ?? 0) + 1 };
}

/** A job that has ended and has no children left. */
export function removeParent(
  shard: Shard,
  id: number,
  job: Job,
  cleared: { readonly cleared?: number },
  now: number,
): void {
  if (cleared.cleared === undefined) {
    shard.remove(id);
    return;
  }
  shard.put(id, changed(job, { ...cleared, leaving: true, lease: undefined, state: "FINISHED" }), now);
  shard.bury(id);
}
