/** Batches, looked at and listened to. */
import { type Caller, inScope } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import {
  type BatchState,
  type BatchSummary,
  type BatchView,
  type Bucket,
  type JobId,
  type JobQuery,
  type JobView,
  listBatches,
  listJobs,
  type Page,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import { ADMIN, showBatchSummary, showJobSummary } from "@sluice/wire";
import { batchIdOf, lookUpBatch } from "../views/lookup.ts";
import { readerOf } from "../views/reader.ts";
import { connected, SILENCE } from "./answers.ts";
import { archivedJobs } from "./archived.ts";
import { batchCursor, batchJobCursor, LIMIT_DEFAULT, readCursor } from "./cursors.ts";
import type { AdminDeps } from "./deps.ts";
import { foundOr, lookAtBatch, seesAddresses } from "./looks.ts";
import { type Seen, serve } from "./serve.ts";

/** Its own last word; what an operator does after it is a new story. */
const BATCH_ENDS: readonly BatchState[] = ["Completed", "Failed", "Deleted"];

const BUCKET_OF = {
  processing: "batch-processing",
  failed: "batch-failed",
  completed: "batch-completed",
  deleted: "batch-deleted",
} as const satisfies Record<string, Bucket>;

export const batchOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.batches, async ({ query, caller }) => {
    const open = connected(deps.queue);
    const cursor = readCursor(batchCursor, query.cursor);
    if ("problem" in cursor) return cursor;
    if (open === null) return SILENCE;
    const known = query.q === undefined ? null : await batchIdOf(open, query.q);
    if (known !== null) return await onlyBatch(open, known, caller);
    const wants = wantedBy(query, caller);
    const page = await listBatches(open.context.session, {
      limit: query.limit ?? LIMIT_DEFAULT,
      ...(cursor.at === undefined ? {} : { before: cursor.at }),
      ...(query.state === undefined ? {} : { state: query.state }),
      ...(wants === null ? {} : { wants }),
    });
    if (page === null) return SILENCE;
    const next = page.next === null ? null : batchCursor.print(page.next);
    return { value: { items: page.items.map(showBatchSummary), next_cursor: next } };
  }),
  serve(ADMIN.batch, ({ params, caller }) => lookAtBatch(deps, params.id, caller)),
  serve(ADMIN.batchEvents, ({ params, caller, request, response }) =>
    deps.topics.stream(
      {
        key: `batch ${params.id} ${seesAddresses(caller)}`,
        event: "batch",
        async look() {
          const seen = await lookAtBatch(deps, params.id, caller);
          return "problem" in seen ? seen : { ...seen, ended: BATCH_ENDS.includes(seen.value.status) };
        },
      },
      request,
      response,
    ),
  ),
  serve(ADMIN.batchJobs, async ({ params, query, caller }) => {
    const open = connected(deps.queue);
    const cursor = readCursor(batchJobCursor, query.cursor);
    if ("problem" in cursor) return cursor;
    if (open === null) return SILENCE;
    const wish = {
      limit: query.limit ?? LIMIT_DEFAULT,
      ...(cursor.at === undefined ? {} : { after: cursor.at }),
      ...(query.outcome === undefined ? {} : { bucket: BUCKET_OF[query.outcome] }),
    };
    const view = await lookUpBatch(open, params.id, caller.scope);
    const listed =
      view.kind === "none"
        ? await archivedJobs(deps.archive, params.id, caller, wish)
        : await queuedJobs(open, foundOr(view, "batch"), wish);
    if ("problem" in listed) return listed;
    const page = listed.value;
    const next = page.next === null ? null : batchJobCursor.print(page.next);
    return { value: { items: page.items.map((job) => showJobSummary(job, readerOf(caller))), next_cursor: next } };
  }),
];

async function queuedJobs(
  open: OpenQueue,
  batch: Seen<BatchView>,
  wish: JobQuery,
): Promise<Seen<Page<JobView, JobId>>> {
  if ("problem" in batch) return batch;
  const page = await listJobs(open.context.session, batch.value.id, wish);
  return page === null ? SILENCE : { value: page };
}

async function onlyBatch(open: OpenQueue, id: string, caller: Caller) {
  const view = await lookUpBatch(open, id, caller.scope);
  if (view.kind === "silence") return SILENCE;
  return { value: { items: view.kind === "found" ? [showBatchSummary(view.value)] : [], next_cursor: null } };
}

interface BatchWish {
  readonly profile?: string | undefined;
  readonly submitter?: string | undefined;
  readonly q?: string | undefined;
}

/** null: whatever there is. */
function wantedBy({ profile, submitter, q }: BatchWish, { scope }: Caller): ((batch: BatchSummary) => boolean) | null {
  if (scope === "all" && profile === undefined && submitter === undefined && q === undefined) return null;
  const text = q?.toLowerCase();
  return ({ submission, status }) => {
    if (!inScope(scope, submission.profile_name)) return false;
    if (profile !== undefined && submission.profile_name !== profile) return false;
    if (submitter !== undefined && submission.submitter !== submitter) return false;
    if (text === undefined) return true;
    return [submission.erc_what ?? "", status.message].some((each) => each.toLowerCase().includes(text));
  };
}
