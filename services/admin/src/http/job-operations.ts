/** Jobs, looked at and listened to. */
import type { Caller } from "@sluice/access";
import type { Operation } from "@sluice/http-api";
import {
  codeOfMessage,
  isEnded,
  jobFolder,
  type JobId,
  JOB_STATES,
  type JobView,
  listJobs,
  parseJobId,
  parseJobUuid,
  placeOfJob,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import { ADMIN, showJobSummary } from "@sluice/wire";
import { join } from "node:path";
import type { z } from "zod";
import { jobsPage, SCANNED_MAX } from "../index/job-page.ts";
import { isMeant } from "../index/search.ts";
import { listJobFiles } from "../views/job-files.ts";
import { lookUpBatch, lookUpJob } from "../views/lookup.ts";
import { readerOf } from "../views/reader.ts";
import { connected, SILENCE } from "./answers.ts";
import { batchJobCursor, jobCursor, LIMIT_DEFAULT, readCursor } from "./cursors.ts";
import type { AdminDeps } from "./deps.ts";
import { foundOr, lookAtJob, seesAddresses } from "./looks.ts";
import { type Seen, serve } from "./serve.ts";

type JobQuery = z.output<NonNullable<typeof ADMIN.jobs.query>>;
type JobList = z.output<NonNullable<typeof ADMIN.jobs.answer>>;

export const jobOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.jobs, async ({ query, caller }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const isId = query.q !== undefined && (parseJobId(query.q) ?? parseJobUuid(query.q)) !== null;
    if (isId) return await onlyJob(open, query, caller);
    return query.batch === undefined
      ? await queuePage(deps, open, query, caller)
      : await batchPage(open, query, caller);
  }),
  serve(ADMIN.job, ({ params, caller }) => lookAtJob(deps, params.id, caller)),
  serve(ADMIN.jobEvents, ({ params, caller, request, response }) =>
    deps.topics.stream(
      {
        key: `job ${params.id} ${seesAddresses(caller)} ${readerOf(caller)}`,
        event: "job",
        async look() {
          const seen = await lookAtJob(deps, params.id, caller);
          return "problem" in seen ? seen : { ...seen, ended: isEnded(seen.value.status) };
        },
      },
      request,
      response,
    ),
  ),
  serve(ADMIN.jobFiles, async ({ params, caller }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const found = foundOr(await lookUpJob(open, params.id, caller.scope), "job");
    if ("problem" in found) return found;
    return { value: await listJobFiles(join(deps.settings.workingDir, jobFolder(placeOfJob(found.value)))) };
  }),
];

async function onlyJob(open: OpenQueue, query: JobQuery, caller: Caller): Promise<Seen<JobList>> {
  const view = await lookUpJob(open, query.q ?? "", caller.scope);
  if (view.kind === "silence") return SILENCE;
  const items = view.kind === "found" && matches(view.value, { ...query, q: undefined }) ? [view.value] : [];
  return { value: { items: items.map((job) => showJobSummary(job, readerOf(caller))), next_cursor: null } };
}

async function queuePage(
  { index }: AdminDeps,
  open: OpenQueue,
  query: JobQuery,
  caller: Caller,
): Promise<Seen<JobList>> {
  const cursor = readCursor(jobCursor, query.cursor);
  if ("problem" in cursor) return cursor;
  const page = await jobsPage(open.context.session, index, {
    scope: caller.scope,
    states: query.state === undefined ? JOB_STATES : [query.state],
    profile: query.profile,
    errorCode: query.error_code,
    text: query.q,
    limit: query.limit ?? LIMIT_DEFAULT,
    after: cursor.at,
  });
  if (page === null) return SILENCE;
  const next = page.next === null ? null : jobCursor.print(page.next);
  return { value: { items: page.jobs.map((job) => showJobSummary(job, readerOf(caller))), next_cursor: next } };
}

/** A batch knows its own jobs, ended ones too, which the queues no longer have. */
async function batchPage(open: OpenQueue, query: JobQuery, caller: Caller): Promise<Seen<JobList>> {
  const cursor = readCursor(batchJobCursor, query.cursor);
  if ("problem" in cursor) return cursor;
  const batch = foundOr(await lookUpBatch(open, query.batch ?? "", caller.scope), "batch");
  if ("problem" in batch) return batch;
  const limit = query.limit ?? LIMIT_DEFAULT;
  const found: JobView[] = [];
  let at: JobId | undefined = cursor.at;
  let more = true;
  for (let scanned = 0; more && found.length < limit && scanned < SCANNED_MAX; scanned += limit) {
    const page = await listJobs(open.context.session, batch.value.id, {
      limit: limit - found.length,
      ...(at === undefined ? {} : { after: at }),
    });
    if (page === null) return SILENCE;
    for (const job of page.items) if (matches(job, query)) found.push(job);
    more = page.next !== null;
    at = page.next ?? at;
  }
  const next = more && at !== undefined ? batchJobCursor.print(at) : null;
  return { value: { items: found.map((job) => showJobSummary(job, readerOf(caller))), next_cursor: next } };
}

function matches(job: JobView, { state, profile, error_code, q }: Partial<JobQuery>): boolean {
  const { status, configuration } = job;
  if (state !== undefined && status.status !== state) return false;
  if (profile !== undefined && configuration.profile_name !== profile) return false;
  if (error_code !== undefined && codeOfMessage(status.message) !== error_code) return false;
  return q === undefined || isMeant(q, job);
}
