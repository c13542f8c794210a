import type { Batch, JobInHand } from "./types.ts";

/** What was taken together, by tenant and type, in the order in which it came. */
export function batchesOf(jobs: readonly JobInHand[]): readonly Batch[] {
  const groups = new Map<string, JobInHand[]>();
  for (const job of jobs) {
    const key = `${job.tenant}\n${job.type}`;
    const group = groups.get(key) ?? [];
    group.push(job);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ tenant: first.tenant, type: first.type, jobs: group }];
  });
}

export function cut(batch: Batch, size: number): readonly Batch[] {
  const parts: Batch[] = [];
  for (let at = 0; at < batch.jobs.length; at += size) parts.push({ ...batch, jobs: batch.jobs.slice(at, at + size) });
  return parts;
}
