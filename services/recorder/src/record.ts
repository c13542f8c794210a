/** Takes Recording: writes a stored version into the inventory. */
import type { Inventory, RecordResult, StoredVersion } from "@sluice/inventory";
import type { Job } from "@sluice/queue-core";
import { done, fail, type JobContext, type JobStage, type Outcome, retry, snooze } from "@sluice/stage-runtime";
import type { VersionReader } from "./stored/version-reader.ts";

export interface RecorderParts {
  readonly reader: VersionReader;
  readonly inventory: Inventory;
  /** How long a job waits whose object another job is being recorded for. */
  readonly busyWaitMs: number;
  /** How long a job waits that found the database away. */
  readonly inventoryAwayWaitMs: number;
  readonly onInventoryAway: () => void;
}

export const recordingStage = (parts: RecorderParts): JobStage => ({
  kind: "job-stage",
  takes: "Recording",
  handle: (job, ctx) => recordJob(job, ctx, parts),
});

async function recordJob(job: Job, ctx: JobContext, parts: RecorderParts): Promise<Outcome> {
  const ark = job.identifiers?.primary_id ?? null;
  const manifestUrl = job.inventory?.manifest_url ?? "";
  if (ark === null || manifestUrl === "")
    return fail("RECORD_FAILED", "nothing says what was stored: resume at Processing");
  if (!(await ctx.lockObjects([{ kind: "inventory", ark }]))) {
    return snooze(parts.busyWaitMs, `another job of ${ark} is being recorded`);
  }
  const read = await parts.reader.read(manifestUrl, { job: job.uuid, signal: ctx.signal });
  if (read.kind === "unavailable") return retry("RECORD_FAILED", `the store: ${read.message}`);
  if (read.kind === "damaged") return fail("RECORD_FAILED", read.message);
  const stranger = strangerTo(job, ark, read.version);
  if (stranger !== null) {
    ctx.log.warn({ why: stranger }, "what is stored is not this job's");
    return fail("RECORD_FAILED", `what is stored as ${manifestUrl} is not this job's: resume at Processing`);
  }
  return settle(await record(ctx, parts, read.version), ctx, parts);
}

/** The stored version must be this job's: the queue and the store are two places, and both can be restored. For the log. */
function strangerTo(job: Job, ark: string, version: StoredVersion): string | null {
  if (version.ark !== ark) return `${version.manifestUrl} holds ${version.ark}, not ${ark}`;
  if (version.ingest.job !== job.uuid) return `${version.manifestUrl} was stored by ${version.ingest.job ?? "nobody"}`;
  return null;
}

async function record(ctx: JobContext, parts: RecorderParts, version: StoredVersion): Promise<RecordResult> {
  await ctx.failpoint("beforeEffect");
  ctx.signal.throwIfAborted();
  const result = await parts.inventory.record(version, async () => {
    await ctx.failpoint("midEffect");
    ctx.signal.throwIfAborted();
  });
  await ctx.failpoint("afterEffect");
  const { ark, number, files } = version;
  if (result.kind === "recorded") ctx.log.info({ ark, version: number, files: files.length }, "recorded");
  return result;
}

function settle(result: RecordResult, ctx: JobContext, parts: RecorderParts): Outcome {
  switch (result.kind) {
    case "recorded":
    case "already":
      return done();
    case "foreign":
      return fail("COLLECTION_MISMATCH", result.message);
    case "conflict":
      ctx.log.warn({ why: result.message }, "a local id of a job is another object's");
      return fail("IDENTIFIER_CONFLICT", `the local id ${result.localIds.join("; ")} is that of another object`);
    case "refused":
      return fail("RECORD_FAILED", result.message);
    case "unavailable":
      return away(result.message, ctx, parts);
  }
}

/** However long it lasts, it is not the job's fault: the job sleeps, says why, and no attempt is counted. */
function away(message: string, { log }: JobContext, parts: RecorderParts): Outcome {
  log.warn({ why: message }, "the inventory database is away");
  parts.onInventoryAway();
  return snooze(parts.inventoryAwayWaitMs, `the inventory database is away: ${message}`);
}
