import type { Job } from "@sluice/queue-core";
import { payloadFiles, type PayloadItem, type WorkingFolder } from "@sluice/working-folder";

/** What a job consists of, by its configuration or by the manifest that was kept for it. */
export async function* filesOfJob(job: Job, folder: WorkingFolder): AsyncGenerator<PayloadItem> {
  const kept = job.files === null ? null : await folder.filesOf(job.batchId, job.id, job.files);
  yield* payloadFiles(job.configuration, kept?.ok === true ? kept.value : null);
}
