import type { Job } from "@sluice/queue-core";
import { type IoFault, type Outcome as IoOutcome } from "@sluice/safe-io";
import { done, fail, type JobContext, type JobStage, type Outcome, retry, snooze } from "@sluice/stage-runtime";
import {
  type ClaimFolder,
  eachAtMost,
  MANIFEST_FILE,
  payloadFiles,
  type PayloadItem,
  type WalkAnswer,
  type WorkingFolder,
} from "@sluice/working-folder";
import { byteLimit, type ByteLimits } from "./byte-limit.ts";
import type { FileVerdict } from "./file-verdict.ts";
import { type Download, obtainFile, type Places } from "./obtain-file.ts";
import { Tally } from "./tally.ts";

export interface DownloaderParts {
  readonly folder: WorkingFolder;
  readonly download: Download;
  readonly limits: ByteLimits;
  /** Files of one job fetched at once. */
  readonly filesAtOnce: number;
  readonly diskFullWaitMs: number;
  /** Sees what became of every file: for the counters. */
  readonly onFile: (verdict: FileVerdict) => void;
}

/** The job's folders: where it goes, and the claim whose files count until now. */
interface Workplace extends Places {
  readonly kept: ClaimFolder | null;
}

export function downloadingStage(parts: DownloaderParts): JobStage {
  return { kind: "job-stage", takes: "Downloading", handle: (job, ctx) => download(job, ctx, parts) };
}

async function download(job: Job, ctx: JobContext, parts: DownloaderParts): Promise<Outcome> {
  const workplace = await openWorkplace(job, parts.folder);
  if (!workplace.ok) return diskTrouble(workplace.error, parts.diskFullWaitMs);
  const tally = await obtainAll(job, ctx, parts, workplace.value);
  ctx.signal.throwIfAborted();
  const trouble = tally.trouble(parts.diskFullWaitMs);
  if (trouble !== undefined) return trouble;
  await ctx.failpoint("midEffect");
  const finished = await finish(job, parts.folder, workplace.value);
  if (!finished.ok) return diskTrouble(finished.error, parts.diskFullWaitMs);
  ctx.log.info({ files: tally.files, bytes: tally.bytes }, "downloaded");
  return done({ keepFiles: true, spaceNeeded: Math.max(1, tally.bytes) });
}

async function openWorkplace(job: Job, folder: WorkingFolder): Promise<IoOutcome<Workplace>> {
  const claim = await folder.claimFolder(job.batchId, job.id, job.token);
  if (!claim.ok) return claim;
  const earlier = await folder.earlierClaims(job.batchId, job.id, job.token);
  if (!earlier.ok) return earlier;
  const uploads = await folder.uploads(job.batchId);
  if (!uploads.ok) return uploads;
  const kept = earlier.value.find(({ token }) => token === job.files) ?? null;
  return { ok: true, value: { claim: claim.value, earlier: earlier.value, uploads: uploads.value, kept } };
}

async function obtainAll(job: Job, ctx: JobContext, parts: DownloaderParts, workplace: Workplace): Promise<Tally> {
  const tally = new Tally();
  const maxBytes = byteLimit(job.spaceNeeded, parts.limits);
  const show = (): void => ctx.progress(tally.progress(job.spaceNeeded));
  const obtain = async (item: PayloadItem, signal: AbortSignal): Promise<WalkAnswer> => {
    if (signal.aborted) return "stop";
    const name = item.ok ? item.file.name : "";
    const onProgress = (bytes: number): void => {
      tally.progressOf(name, bytes);
      show();
    };
    const verdict = item.ok
      ? await obtainFile(item.file, workplace, parts.download, { maxBytes, signal, onProgress })
      : ({ kind: "never", ...item.problem } as const);
    parts.onFile(verdict);
    const answer = tally.add(name, verdict);
    show();
    return answer;
  };
  const files = payloadFiles(job.configuration, workplace.kept);
  await eachAtMost(files, parts.filesAtOnce, obtain, [ctx.signal]);
  return tally;
}

/** The manifest moves along with the files it names; then what dead claims left behind makes room. */
async function finish(job: Job, folder: WorkingFolder, { claim, kept }: Workplace): Promise<IoOutcome<void>> {
  const manifest = await kept?.top.read(MANIFEST_FILE);
  if (manifest?.ok === true) {
    const written = await claim.top.write(MANIFEST_FILE, manifest.value);
    if (!written.ok) return written;
  } else if (manifest !== undefined && manifest.error.code !== "NOT_FOUND") return manifest;
  return folder.pruneClaims(job.batchId, job.id, job.files === null ? [job.token] : [job.files, job.token]);
}

function diskTrouble(fault: IoFault, diskFullWaitMs: number): Outcome {
  if (fault.code === "NO_SPACE") return snooze(diskFullWaitMs, `no room on the working volume: ${fault.message}`);
  if (fault.code === "LINK_REFUSED") return fail("FILES_MISSING", fault.message);
  return retry("UNEXPECTED", `the working folder: ${fault.message}`);
}
