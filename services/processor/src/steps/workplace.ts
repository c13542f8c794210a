import type { Job } from "@sluice/queue-core";
import { fail } from "@sluice/stage-runtime";
import type { ClaimFolder } from "@sluice/working-folder";
import type { ProcessorParts } from "../parts.ts";
import { diskTrouble, ended, type Step, went } from "./step.ts";

export interface Workplace {
  /** What the downloader left, to be read only. */
  readonly kept: ClaimFolder;
  /** This claim's own folder, to write in. */
  readonly own: ClaimFolder;
}

export async function openWorkplace(job: Job, parts: ProcessorParts): Promise<Step<Workplace>> {
  if (job.files === null) return ended(fail("FILES_MISSING", "no stage has left files for this job"));
  const kept = await parts.folder.filesOf(job, job.files);
  if (!kept.ok) return diskTrouble(kept.error, parts.diskFullWaitMs);
  const own = await parts.folder.claimFolder(job, job.claim);
  if (!own.ok) return diskTrouble(own.error, parts.diskFullWaitMs);
  return went({ kept: kept.value, own: own.value });
}
