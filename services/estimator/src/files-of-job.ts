import type { Job } from "@sluice/queue-core";
import { type FetchItem, filesToFetch, type WorkingFolder } from "@sluice/working-folder";

/** What a job is to fetch, by its configuration or by the manifest that was kept for it; a container is one file. */
export async function* filesOfJob(job: Job, folder: WorkingFolder): AsyncGenerator<FetchItem> {
  const kept = job.files === null ? null : await folder.filesOf(job, job.files);
  yield* filesToFetch(job.configuration, kept?.ok === true ? kept.value : null);
}
