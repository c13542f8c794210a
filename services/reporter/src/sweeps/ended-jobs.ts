import {
  type JobId,
  type JobPlace,
  paths,
  placeOfJob,
  type QueueContext,
  type QueueEntry,
  readJobs,
  sortEntries,
  sweepEntry,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import type { WorkingFolder } from "@sluice/working-folder";

export type JobFolders = Pick<WorkingFolder, "removeJob">;

const JOBS_PER_READ = 50;

/**
 * A job that is over for good needs neither files nor a place in a queue. The folder goes first: as long as the entry
 * is there, a sweep that was cut short is taken up by the next one.
 */
export function endedJobsSweep(state: "Completed" | "Deleted", folders: JobFolders, everyMs: number): Sweep {
  return {
    kind: "sweep",
    name: `${state.toLowerCase()}-jobs`,
    everyMs,
    async run(ctx) {
      const listed = await ctx.queue.session.children(paths.queue(state));
      if (!listed.ok) return;
      const entries = sortEntries(listed.value.names);
      for (let i = 0; i < entries.length && !ctx.signal.aborted; i += JOBS_PER_READ)
        await clear(state, entries.slice(i, i + JOBS_PER_READ), folders, ctx);
    },
  };
}

async function clear(
  state: "Completed" | "Deleted",
  entries: readonly QueueEntry[],
  folders: JobFolders,
  ctx: SweepContext,
): Promise<void> {
  const places = await placesOf(ctx.queue, entries, state);
  await Promise.all(
    entries.map(async (entry) => {
      const place = places.get(entry.id);
      if (place === undefined) return;
      const removed = await folders.removeJob(place);
      if (!removed.ok) {
        ctx.log.error({ job_id: entry.id, why: removed.error.message }, "the job's folder cannot be removed yet");
        return;
      }
      await ctx.failpoint("afterFolder");
      await sweepEntry(ctx.queue, state, entry);
    }),
  );
}

/** Only our jobs, and those that are where their entry says: an entry alone is a rumour. */
async function placesOf(
  queue: QueueContext,
  entries: readonly QueueEntry[],
  state: string,
): Promise<ReadonlyMap<JobId, JobPlace>> {
  const views =
    (await readJobs(
      queue.session,
      entries.map(({ id }) => id),
    )) ?? [];
  return new Map(
    views.flatMap((view) =>
      view.kind === "found" && view.value.status.status === state && view.value.history !== null
        ? [[view.value.id, placeOfJob(view.value)] as const]
        : [],
    ),
  );
}
