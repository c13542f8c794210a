import type { Job } from "@sluice/queue-core";
import type { ArchiveLimits, IoFault } from "@sluice/safe-io";
import { done, fail, type JobContext, type JobStage, type Outcome, retry, snooze } from "@sluice/stage-runtime";
import { eachAtMost, type FetchItem, filesToFetch, isContainer, type WalkAnswer } from "@sluice/working-folder";
import type { WorkingFolder } from "@sluice/working-folder";
import { byteLimit, type ByteLimits } from "./byte-limit.ts";
import { unpackContainer } from "./container.ts";
import { type FileVerdict, verdictOnContainer } from "./file-verdict.ts";
import { type Download, obtainFile } from "./obtain-file.ts";
import { Tally } from "./tally.ts";
import type { Stay, VolumeGuard } from "./volume-guard.ts";
import { clearUp, giveRoomBack, openWorkplace, type Workplace } from "./workplace.ts";

export interface DownloaderParts {
  readonly folder: WorkingFolder;
  readonly download: Download;
  readonly limits: ByteLimits;
  /** How much a container may hold. */
  readonly archiveLimits: Partial<ArchiveLimits>;
  /** Files of one job fetched at once. */
  readonly filesAtOnce: number;
  readonly diskFullWaitMs: number;
  /** Knows whether there is room for what nobody had promised. */
  readonly guard: Pick<VolumeGuard, "enter">;
  /** Sees what became of every file: for the counters. */
  readonly onFile: (verdict: FileVerdict) => void;
}

export function downloadingStage(parts: DownloaderParts): JobStage {
  return { kind: "job-stage", takes: "Downloading", handle: (job, ctx) => download(job, ctx, parts) };
}

async function download(job: Job, ctx: JobContext, parts: DownloaderParts): Promise<Outcome> {
  const workplace = await openWorkplace(job, parts.folder);
  if (!workplace.ok) return diskTrouble(workplace.error, parts.diskFullWaitMs);
  const stay = parts.guard.enter(job.spaceNeeded);
  const guarded = { ...ctx, signal: AbortSignal.any([ctx.signal, stay.signal]) };
  try {
    return await bring(job, guarded, parts, { ...workplace.value, stay });
  } catch (error) {
    if (ctx.signal.aborted || !stay.signal.aborted) throw error;
    return await outgrown(job, ctx, parts, workplace.value);
  } finally {
    stay.leave();
  }
}

interface Visit extends Workplace {
  readonly stay: Stay;
}

async function bring(job: Job, ctx: JobContext, parts: DownloaderParts, visit: Visit): Promise<Outcome> {
  const tally = await obtainAll(job, ctx, parts, visit);
  ctx.signal.throwIfAborted();
  const trouble = tally.trouble(parts.diskFullWaitMs);
  if (trouble !== undefined) return trouble;
  if (!isContainer(job.configuration)) return conclude(job, ctx, parts, visit, tally);
  await ctx.failpoint("afterFetch");
  return unpack(job, ctx, parts, visit, tally.bytes);
}

/** Waits longer after each attempt: others' jobs may have to end first. */
const OUTGROWN_FACTOR = 4;

/**
 * It took more than was known before, and the volume has no room for that. What it has goes, so that it is in nobody's
 * way while it waits. The attempt counts: a server that never stops sending must not keep the job for ever.
 */
async function outgrown(job: Job, ctx: JobContext, parts: DownloaderParts, workplace: Workplace): Promise<Outcome> {
  const cleared = await giveRoomBack(job, parts.folder, workplace);
  if (!cleared.ok) return diskTrouble(cleared.error, parts.diskFullWaitMs);
  const known = job.spaceNeeded === 0 ? "its size was not known" : `${job.spaceNeeded} bytes were expected`;
  const why = `it takes more room than the working volume has left: ${known}`;
  ctx.log.warn({ why }, "the download was stopped, and its files removed");
  return retry("DOWNLOAD_FAILED", why, parts.diskFullWaitMs * OUTGROWN_FACTOR ** (job.attempt - 1));
}

/** The container makes way for what was in it. */
async function unpack(
  job: Job,
  ctx: JobContext,
  parts: DownloaderParts,
  visit: Visit,
  containerBytes: number,
): Promise<Outcome> {
  const unpacked = await unpackContainer(visit.claim, parts.archiveLimits, ctx, (bytes) =>
    visit.stay.took(containerBytes + bytes),
  );
  ctx.signal.throwIfAborted();
  if (unpacked.ok) return conclude(job, ctx, parts, visit, unpacked.value);
  const tally = new Tally();
  tally.add("", verdictOnContainer(unpacked.error));
  return tally.trouble(parts.diskFullWaitMs) ?? retry("UNEXPECTED", unpacked.error.message);
}

async function conclude(
  job: Job,
  ctx: JobContext,
  parts: DownloaderParts,
  workplace: Workplace,
  { files, bytes }: { readonly files: number; readonly bytes: number },
): Promise<Outcome> {
  await ctx.failpoint("midEffect");
  const cleared = await clearUp(job, parts.folder, workplace);
  if (!cleared.ok) return diskTrouble(cleared.error, parts.diskFullWaitMs);
  ctx.log.info({ files, bytes }, "downloaded");
  return done({ keepFiles: true, spaceNeeded: Math.max(1, bytes) });
}

async function obtainAll(job: Job, ctx: JobContext, parts: DownloaderParts, visit: Visit): Promise<Tally> {
  const tally = new Tally();
  const maxBytes = byteLimit(job.spaceNeeded, parts.limits);
  const profile = job.configuration.profile_name;
  const show = (): void => ctx.progress(tally.progress(job.spaceNeeded));
  const obtain = async (item: FetchItem, signal: AbortSignal): Promise<WalkAnswer> => {
    if (signal.aborted) return "stop";
    const name = item.ok ? item.file.name : "";
    const onProgress = (bytes: number): void => {
      tally.progressOf(name, bytes);
      visit.stay.took(tally.bytesHere);
      show();
    };
    const verdict = item.ok
      ? await obtainFile(item.file, visit, parts.download, { profile, maxBytes, signal, onProgress })
      : ({ kind: "never", ...item.problem } as const);
    parts.onFile(verdict);
    const answer = tally.add(name, verdict);
    show();
    return answer;
  };
  const files = filesToFetch(job.configuration, visit.kept);
  await eachAtMost(files, parts.filesAtOnce, obtain, [ctx.signal]);
  return tally;
}

function diskTrouble(fault: IoFault, diskFullWaitMs: number): Outcome {
  if (fault.code === "NO_SPACE") return snooze(diskFullWaitMs, `no room on the working volume: ${fault.message}`);
  if (fault.code === "LINK_REFUSED") return fail("FILES_MISSING", fault.message);
  return retry("UNEXPECTED", `the working folder: ${fault.message}`);
}
