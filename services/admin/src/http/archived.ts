/** Batches and jobs that have left the queue, as operators see them: nothing can be done about them any more. */
import { type Caller, inScope } from "@sluice/access";
import { problem } from "@sluice/http-api";
import type { ArchivedBatch, Found, Inventory } from "@sluice/inventory";
import type { ProfileStore } from "@sluice/profile-store";
import type { Bucket, JobId } from "@sluice/queue-core";
import {
  type AnyJob,
  type BatchDetail,
  batchOfArchive,
  fromArchive,
  type JobDetail,
  jobOfArchive,
  pageOfArchive,
  showBatch,
  showJob,
} from "@sluice/wire";
import { callbackOf } from "../views/callback.ts";
import { readerOf } from "../views/reader.ts";
import { nothing } from "./answers.ts";
import type { AuditReading } from "../house/audit-list.ts";
import type { Seen } from "./serve.ts";

export type Archive = Pick<
  Inventory,
  "findArchivedBatch" | "findArchivedJob" | "listArchivedJobs" | keyof AuditReading
>;

const UNREADABLE = { problem: problem("INTERNAL_ERROR", "what the archive has of it cannot be read") } as const;
const NO_ARCHIVE = {
  problem: problem("UNAVAILABLE", "it is not in the queue, and the archive does not answer", { retryAfterSeconds: 5 }),
} as const;

export async function archivedBatch(archive: Archive | null, id: string, caller: Caller): Promise<Seen<BatchDetail>> {
  const found = await batchIn(archive, id, caller);
  if ("problem" in found) return found;
  const batch = batchOfArchive(found.value);
  if (batch === null) return UNREADABLE;
  const notification = batch.submission.notification ?? null;
  const shown = showBatch(batch, fromArchive(found.value.archivedAt));
  return { value: { ...shown, notification, hold: null, actions: [] } };
}

export async function archivedJob(
  archive: Archive | null,
  profiles: Pick<ProfileStore, "get">,
  id: string,
  caller: Caller,
): Promise<Seen<JobDetail>> {
  const found = foundIn(await archive?.findArchivedJob(id), "job");
  if ("problem" in found) return found;
  const job = jobOfArchive(found.value);
  // Whose it is stands in what cannot be read: only who sees everything may know that it is there.
  if (job === null) return caller.scope === "all" ? UNREADABLE : nothing("job");
  if (!inScope(caller.scope, job.configuration.profile_name)) return nothing("job");
  const nothingToDo = { worker: null, resume_at: null, resume_choices: [], not_before: null, hold: null, actions: [] };
  const shown = showJob(job, null, fromArchive(null), readerOf(caller));
  const callback = callbackOf({ job: shown, profile: profiles.get(shown.profile), isQueued: false, called: null });
  return { value: { ...shown, callback, mails: [], ...nothingToDo } };
}

interface PageWish {
  readonly limit: number;
  readonly after?: JobId;
  readonly bucket?: Bucket;
}

export async function archivedJobs(
  archive: Archive | null,
  batch: string,
  caller: Caller,
  { limit, after, bucket }: PageWish,
): Promise<Seen<{ readonly items: readonly AnyJob[]; readonly next: JobId | null }>> {
  const found = await batchIn(archive, batch, caller);
  if ("problem" in found) return found;
  const page = { limit: limit + 1, ...(after === undefined ? {} : { after }) };
  const jobs = foundIn(await archive?.listArchivedJobs(found.value, page), "batch");
  return "problem" in jobs ? jobs : { value: pageOfArchive(jobs.value, limit, bucket) };
}

async function batchIn(archive: Archive | null, id: string, { scope }: Caller): Promise<Seen<ArchivedBatch>> {
  const found = foundIn(await archive?.findArchivedBatch(id), "batch");
  return "problem" in found || inScope(scope, found.value.profile) ? found : nothing("batch");
}

/** undefined: there is no archive to ask. */
function foundIn<T>(found: Found<T> | undefined, what: string): Seen<T> {
  if (found === undefined || found.kind === "none") return nothing(what);
  return found.kind === "found" ? { value: found.value } : NO_ARCHIVE;
}
