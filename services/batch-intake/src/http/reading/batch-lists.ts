/** Pages of batches, and of a batch's jobs. */
import { cursorOf, type Handled, pageFields, pageReply } from "@sluice/http-api";
import type { ArchivedBatch } from "@sluice/inventory";
import { BATCH_STATES, type BatchQuery, type Bucket, bucketOf, parseBatchId, parseJobId } from "@sluice/queue-core";
import type { Request } from "express";
import { z } from "zod";
import { jobOfArchive } from "./archived-views.ts";
import { type Archive, findBatch, type LookupParts, NO_ARCHIVE, NO_QUEUE } from "./lookup.ts";
import { type AnyJob, showBatchSummary, showJobSummary, submittedAtMs } from "./views.ts";

const parsedBy = <T extends string>(parse: (raw: string) => T | null) =>
  z.string().transform((raw, ctx): T => {
    const id = parse(raw);
    if (id === null) ctx.addIssue({ code: "custom", message: "no id" });
    return id ?? z.NEVER;
  });
const batchCursor = cursorOf("batches", parsedBy(parseBatchId));
const jobCursor = cursorOf("jobs", parsedBy(parseJobId));

const moment = (meaning: string) =>
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()], "expected a time or a day, as in RFC 3339")
    .optional()
    .describe(meaning);

export const BatchListQuery = z
  .strictObject({
    ...pageFields(batchCursor),
    state: z.enum(BATCH_STATES).optional(),
    profile: z.string().max(200).optional().describe("of the collection, whole"),
    submitter: z.string().max(200).optional().describe("as submitted, whole"),
    since: moment("submitted then or later"),
    until: moment("submitted before"),
  })
  .refine(({ since, until }) => since === undefined || until === undefined || Date.parse(since) <= Date.parse(until), {
    path: ["until"],
    message: "is before since",
  });
type BatchListQuery = z.output<typeof BatchListQuery>;

export async function batchPage({ reader }: LookupParts, query: BatchListQuery, request: Request): Promise<Handled> {
  const wants = wantedBy(query);
  const page = await reader.listBatches({
    limit: query.limit,
    ...(query.cursor === undefined ? {} : { before: query.cursor }),
    ...(query.state === undefined ? {} : { state: query.state }),
    ...(wants === null ? {} : { wants }),
  });
  if (page === null) return { problem: NO_QUEUE };
  const next = page.next === null ? null : batchCursor.print(page.next);
  return pageReply(request, page.items.map(showBatchSummary), next);
}

/** null: whatever there is. */
function wantedBy({ profile, submitter, since, until }: BatchListQuery): NonNullable<BatchQuery["wants"]> | null {
  if (profile === undefined && submitter === undefined && since === undefined && until === undefined) return null;
  const [from, to] = [since, until].map((text) => (text === undefined ? null : Date.parse(text)));
  return ({ submission }) => {
    if (profile !== undefined && submission.profile_name !== profile) return false;
    if (submitter !== undefined && submission.submitter !== submitter) return false;
    if (since === undefined && until === undefined) return true;
    const at = submittedAtMs(submission);
    return at !== null && at >= (from ?? at) && at < (to ?? Infinity);
  };
}

const BUCKET_OF = {
  processing: "batch-processing",
  failed: "batch-failed",
  completed: "batch-completed",
  deleted: "batch-deleted",
} as const satisfies Record<string, Bucket>;

export const JobListQuery = z.strictObject({
  ...pageFields(jobCursor),
  state: z.enum(["processing", "failed", "completed", "deleted"]).optional().describe("as counted in the batch"),
});
type JobListQuery = z.output<typeof JobListQuery>;

export async function jobPage(
  parts: LookupParts,
  batch: string,
  { limit, cursor, state }: JobListQuery,
  request: Request,
): Promise<Handled> {
  const found = await findBatch(parts, batch);
  if (found.kind === "problem") return found;
  const bucket = state === undefined ? {} : { bucket: BUCKET_OF[state] };
  const query = { limit, ...bucket, ...(cursor === undefined ? {} : { after: cursor }) };
  const page =
    found.kind === "archive"
      ? await archivedPage(parts.archive, found.value, query)
      : await parts.reader.listJobs(found.value.id, query);
  if (page === null) return { problem: found.kind === "archive" ? NO_ARCHIVE : NO_QUEUE };
  const next = page.next === null ? null : jobCursor.print(page.next);
  return pageReply(request, page.items.map(showJobSummary), next);
}

interface ArchivedQuery {
  readonly limit: number;
  readonly after?: string;
  readonly bucket?: Bucket;
}

/** The archive is read a page at a time: with a filter some pages are short. */
async function archivedPage(archive: Archive | null, batch: ArchivedBatch, { limit, after, bucket }: ArchivedQuery) {
  const jobs = await archive?.listArchivedJobs(batch, { limit: limit + 1, ...(after === undefined ? {} : { after }) });
  if (jobs?.kind !== "found") return null;
  const items = jobs.value.slice(0, limit).flatMap((job): AnyJob[] => {
    const view = jobOfArchive(job);
    return view === null || (bucket !== undefined && bucketOf(view.status.status) !== bucket) ? [] : [view];
  });
  const last = parseJobId(jobs.value.slice(0, limit).at(-1)?.id ?? "");
  return { items, next: jobs.value.length > limit ? last : null };
}
