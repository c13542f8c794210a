/** One batch or job, as the caller may see it now: for documents and for streams. */
import type { Caller } from "@sluice/access";
import type { Viewed } from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import type { BatchDetail, JobDetail } from "@sluice/wire";
import type { Session } from "@sluice/zookeeper";
import { batchDetail, jobDetail } from "../views/details.ts";
import { lookUpBatch, lookUpJob } from "../views/lookup.ts";
import { broken, connected, nothing, SILENCE } from "./answers.ts";
import type { AdminDeps } from "./deps.ts";
import type { Served } from "./serve.ts";

export type Seen<T> = Exclude<Served<T>, "answered">;

export const lookAtBatch = ({ queue }: Pick<AdminDeps, "queue">, id: string, { scope }: Caller) =>
  lookAt<Parameters<typeof batchDetail>[1], BatchDetail>(
    queue,
    "batch",
    (open) => lookUpBatch(open, id, scope),
    batchDetail,
  );

export const lookAtJob = ({ queue }: Pick<AdminDeps, "queue">, id: string, { scope }: Caller) =>
  lookAt<Parameters<typeof jobDetail>[1], JobDetail>(queue, "job", (open) => lookUpJob(open, id, scope), jobDetail);

async function lookAt<V, D>(
  queue: () => OpenQueue | null,
  what: string,
  lookUp: (open: OpenQueue) => Promise<Viewed<V>>,
  detail: (session: Session, view: V) => Promise<D | null>,
): Promise<Seen<D>> {
  const open = connected(queue);
  if (open === null) return SILENCE;
  const found = foundOr(await lookUp(open), what);
  if ("problem" in found) return found;
  const value = await detail(open.context.session, found.value);
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
