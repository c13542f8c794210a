/** One batch or job, as the caller may see it now: for documents and for streams. */
import { type Caller, may } from "@sluice/access";
import type { BatchView, JobView, Viewed } from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import type { BatchDetail, JobDetail } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";
import { batchDetail, jobDetail, type JobNews } from "../views/details.ts";
import { lookUpBatch, lookUpJob } from "../views/lookup.ts";
import { mailsSent } from "../views/mails-sent.ts";
import { readerOf } from "../views/reader.ts";
import { broken, connected, nothing, SILENCE } from "./answers.ts";
import { archivedBatch, archivedJob } from "./archived.ts";
import type { AdminDeps } from "./deps.ts";
import type { Seen } from "./serve.ts";

/** Who works with a collection knows whom its mails are for; who only looks on is not told. */
export const seesAddresses = (caller: Caller): boolean => may(caller, "submit").ok;

export async function lookAtBatch(
  { queue, archive }: Pick<AdminDeps, "queue" | "archive">,
  id: string,
  caller: Caller,
): Promise<Seen<BatchDetail>> {
  const seen = await lookAt<BatchView, BatchDetail>(queue, "batch", {
    inQueue: (open) => lookUpBatch(open, id, caller.scope),
    detail: batchDetail,
    inArchive: () => archivedBatch(archive, id, caller),
  });
  return "problem" in seen || seesAddresses(caller) ? seen : { value: { ...seen.value, notification: null } };
}

export function lookAtJob(
  {
    queue,
    archive,
    profiles,
    settings: { workingDir },
  }: Pick<AdminDeps, "queue" | "archive" | "profiles" | "settings">,
  id: string,
  caller: Caller,
): Promise<Seen<JobDetail>> {
  const withAddresses = seesAddresses(caller);
  const mails: JobNews["mails"] = (batch, reports) => mailsSent({ workingDir, batch, reports, withAddresses });
  return lookAt<JobView, JobDetail>(queue, "job", {
    inQueue: (open) => lookUpJob(open, id, caller.scope),
    detail: (session, job) => jobDetail(session, job, { profiles, mails, reader: readerOf(caller) }),
    inArchive: () => archivedJob(archive, profiles, id, caller),
  });
}

interface Ways<V, D> {
  inQueue(open: OpenQueue): Promise<Viewed<V>>;
  detail(session: Session, view: V): Promise<D | null>;
  /** Asked only when the queue has none. */
  inArchive(): Promise<Seen<D>>;
}

async function lookAt<V, D>(queue: () => OpenQueue | null, what: string, ways: Ways<V, D>): Promise<Seen<D>> {
  const open = connected(queue);
  if (open === null) return SILENCE;
  const view = await ways.inQueue(open);
  if (view.kind === "none") return await ways.inArchive();
  const found = foundOr(view, what);
  if ("problem" in found) return found;
  const value = await ways.detail(open.context.session, found.value);
  return value === null ? SILENCE : { value };
}

/** What was found, or the problem that it was not. */
export function foundOr<V>(view: Viewed<V>, what: string): Seen<V> {
  switch (view.kind) {
    case "found":
      return { value: view.value };
    case "none":
      return nothing(what);
    case "broken":
      return broken(view.problem);
    case "silence":
      return SILENCE;
  }
}
