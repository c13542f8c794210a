import type { Job } from "@sluice/queue-core";
import type { WorkingFolder } from "@sluice/working-folder";
import type { EstimatorParts } from "./estimate.ts";
import type { HeadSize } from "./head-size.ts";

/** Asks the server for what lies elsewhere, and the disk for what was uploaded. */
export function sizeOfFile(folder: WorkingFolder, headSize: HeadSize): EstimatorParts["sizeOf"] {
  return (job, file, signal) =>
    file.source.kind === "url"
      ? headSize(file.source.url, job.configuration.profile_name, signal)
      : uploadSize(folder, job, file.source.name);
}

async function uploadSize(folder: WorkingFolder, job: Job, name: string): Promise<number | undefined> {
  const uploads = await folder.uploads(job);
  const upload = uploads.ok ? await uploads.value.stat(name) : uploads;
  return upload.ok ? upload.value.bytes : undefined;
}
