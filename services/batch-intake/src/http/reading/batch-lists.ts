/** Pages of batches, and of a batch's jobs. */
import { inScope, type Scope } from "@sluice/access";
import { cursorOf, type Handled, PAGE_LIMIT_DEFAULT, pageReply, readCursor } from "@sluice/http-api";
import type { ArchivedBatch } from "@sluice/inventory";
import { type BatchQuery, type Bucket, parseBatchId, parseJobId } from "@sluice/queue-core";
import { INTAKE, pageOfArchive, showBatchSummary, showJobSummary, submittedAtMs } from "@sluice/wire";
import type { Request } from "express";
import { z } from "zod";
import { findKept } from "./kept.ts";
import { type Archive, findBatch, type LookupParts, NO_ARCHIVE, NO_QUEUE, NOWHERE } from "./lookup.ts";

const parsedBy = <T extends string>(parse: (raw: string) => T | null) =>
  z.string().transform((raw, ctx): T => {
    const id = parse(raw);
    if (id === null) ctx.addIssue({ code: "custom", message: "no id" });
    return id ?? z.NEVER;
  });
const batchCursor = cursorOf("batches", parsedBy(parseBatchId));
const jobCursor = cursorOf("jobs", parsedBy(parseJobId));

type BatchListQuery = z.output<typeof INTAKE.listBatches.query & {}>;
type JobListQuery = z.output<typeof INTAKE.listJobs.query & {}>;

export async function batchPage(
  { reader }: LookupParts,
  scope: Scope,
  query: BatchListQuery,
  request: Request,
): Promise<Handled> {
  const cursor = readCursor(batchCursor, query.cursor);
  if ("problem" in cursor) return cursor;
  const wants = wantedBy(query, scope);
  const page = await reader.listBatches({
    limit: query.limit ?? PAGE_LIMIT_DEFAULT,
    ...(cursor.at === undefined ? {} : { before: cursor.at }),
    ...(query.state === undefined ? {} : { state: query.state }),
    ...(wants === null ? {} : { wants }),
  });
  if (page === null) return { problem: NO_QUEUE };
  const next = page.next === null ? null : batchCursor.print(page.next);
  return pageReply(request, page.items.map(showBatchSummary), next);
}

/** null: whatever there is. */
function wantedBy(
  { profile, submitter, since, until }: BatchListQuery,
  scope: Scope,
): NonNullable<BatchQuery["wants"]> | null {
  if (scope === "all" && profile === undefined && submitter === undefined && since === undefined && until === undefined)
    return null;
  const [from, to] = [since, until].map((text) => (text === undefined ? null : Date.parse(text)));
  return ({ submission }) => {
    if (!inScope(scope, submission.profile_name)) return false;
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

export async function jobPage(
  parts: LookupParts,
  scope: Scope,
  batch: string,
  { limit = PAGE_LIMIT_DEFAULT, cursor: raw, state }: JobListQuery,
  request: Request,
): Promise<Handled> {
  const cursor = readCursor(jobCursor, raw);
  if ("problem" in cursor) return cursor;
  const kept = await findKept(parts, batch);
  if (kept !== null) return inScope(scope, kept.profile) ? pageReply(request, [], null) : { problem: NOWHERE };
  const found = await findBatch(parts, batch);
  if (found.kind === "problem") return found;
  const profile = found.kind === "archive" ? found.value.profile : found.value.submission.profile_name;
  if (!inScope(scope, profile)) return { problem: NOWHERE };
  const bucket = state === undefined ? {} : { bucket: BUCKET_OF[state] };
  const query = { limit, ...bucket, ...(cursor.at === undefined ? {} : { after: cursor.at }) };
  const page =
    found.kind === "archive"
      ? await archivedPage(parts.archive, found.value, query)
      : await parts.reader.listJobs(found.value.id, query);
  if (page === null) return { problem: found.kind === "archive" ? NO_ARCHIVE : NO_QUEUE };
  const next = page.next === null ? null : jobCursor.print(page.next);
  return pageReply(
    request,
    page.items.map((job) => showJobSummary(job, "depositor")),
    next,
  );
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
  return pageOfArchive(jobs.value, limit, bucket);
}
