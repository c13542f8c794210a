/** What operators do: to a job, a batch, a collection, the queue, a stage, a worker. */
import { type Caller, inScope, may } from "@sluice/access";
import { type Operation, type Problem, problem } from "@sluice/http-api";
import {
  actOnBatch,
  type HoldTarget,
  orderCleanUp,
  orderJob,
  readBatch,
  releaseHold,
  setHold,
  type Viewed,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import { ADMIN, type BatchRequest, type Done, type JobRequest, type SwitchRequest } from "@sluice/wire";
import { readHoldViews } from "../views/holds.ts";
import { lookUpBatch, lookUpJob } from "../views/lookup.ts";
import { readWorkers } from "../views/workers.ts";
import { connected, nothing, SILENCE } from "./answers.ts";
import { type Change, change, confirmation } from "./changes.ts";
import type { AdminDeps } from "./deps.ts";
import { orderOf, wrongField } from "./job-action.ts";
import { foundOr } from "./looks.ts";
import { type Seen, serve } from "./serve.ts";
import { batchWarning, jobWarning } from "./told.ts";

export const actionOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(
    ADMIN.jobAction,
    async ({ params, body, caller, response }) => {
      const open = connected(deps.queue);
      const wish = orderOf(body);
      if ("problem" in wish) return wish;
      if (open === null) return SILENCE;
      const found = foundOr(await lookUpJob(open, params.id, caller.scope), "job");
      if ("problem" in found) return found;
      const { id, batchId, configuration } = found.value;
      const batch = foundOr(await readBatch(open.context.session, batchId), "batch");
      if ("problem" in batch) return batch;
      const warning = jobWarning(body, found.value, batch.value, deps.profiles.get(configuration.profile_name));
      if (warning !== null && body.confirm !== true) return confirmation(warning);
      const { action, reason } = body;
      const message = doneText(id, action);
      const whose = { target: id, batchId, what: "job" };
      const what: Change = { caller, response, action: `job.${action}`, ...whose, reason, message };
      return await change(deps, what, (operator) => orderJob(open.context, operator, wish.order, id));
    },
    seen(deps, ({ id }, open, { scope }) => lookUpJob(open, id, scope), "job"),
  ),
  serve(
    ADMIN.batchAction,
    async ({ params, body, caller, response }) => {
      const allowed = may(caller, body.action === "clean-up" ? "clean-up-batches" : "act-on-deposits");
      if (!allowed.ok) return { problem: problem("FORBIDDEN", allowed.why) };
      const open = connected(deps.queue);
      if (open === null) return SILENCE;
      const found = foundOr(await lookUpBatch(open, params.id, caller.scope), "batch");
      if ("problem" in found) return found;
      const { id } = found.value;
      const { action, reason, confirm } = body;
      const warning = batchWarning(body, found.value);
      if (warning !== null && confirm !== true) return confirmation(warning);
      const message = action === "clean-up" ? `${id}: the reporter cleans it up` : doneText(id, action);
      const what: Change = { caller, response, action: `batch.${action}`, target: id, reason, message, what: "batch" };
      return await change(deps, what, (operator) =>
        action === "clean-up"
          ? orderCleanUp(open.context, operator, id)
          : actOnBatch(open.context, operator, action, id),
      );
    },
    seen(deps, ({ id }, open, { scope }) => lookUpBatch(open, id, scope), "batch"),
  ),
  serve(
    ADMIN.collectionAction,
    async ({ params: { name }, body, caller, response }) => {
      const open = connected(deps.queue);
      if (open === null) return SILENCE;
      if (!(await isCollection(deps, open, name))) return nothing("collection");
      const what = { caller, response, target: name, what: "collection", message: switched(name, body) };
      return await turn(deps, open, { kind: "collection", profile: name }, body, what);
    },
    ({ name }, { scope }) => (inScope(scope, name) ? null : nothing("collection").problem),
  ),
  serve(ADMIN.queueAction, async ({ body, caller, response }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const message = body.action === "hold" ? "the queue is paused" : "the queue goes on";
    return await turn(deps, open, { kind: "queue" }, body, {
      caller,
      response,
      target: "ingest",
      what: "queue",
      message,
    });
  }),
  serve(ADMIN.stageAction, async ({ params: { stage }, body, caller, response }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const message = body.action === "hold" ? `${stage} is paused` : `${stage} goes on`;
    return await turn(deps, open, { kind: "stage", stage }, body, {
      caller,
      response,
      target: stage,
      what: "stage",
      message,
    });
  }),
  serve(ADMIN.workerAction, async ({ params: { id }, body, caller, response }) => {
    const open = connected(deps.queue);
    const workers = open === null ? null : await readWorkers(open.context.session);
    if (open === null || workers === null) return SILENCE;
    // A drain outlives its worker and would meet the next one of that name: only who is there is drained.
    if (body.action === "hold" && !workers.some((worker) => worker.id === id)) return nothing("worker");
    const message = body.action === "hold" ? `${id} takes no more work` : `${id} takes work again`;
    return await turn(deps, open, { kind: "worker", worker: id }, body, {
      caller,
      response,
      target: id,
      what: "worker",
      message,
    });
  }),
];

/** What is not there for the caller; while nobody can say that, the action finds out. */
const seen =
  <T>(
    { queue }: Pick<AdminDeps, "queue">,
    look: (params: { readonly id: string }, open: OpenQueue, caller: Caller) => Promise<Viewed<T>>,
    what: string,
  ) =>
  async (params: { readonly id: string }, caller: Caller): Promise<Problem | null> => {
    const open = connected(queue);
    const found = open === null ? null : await look(params, open, caller);
    return found?.kind === "none" ? nothing(what).problem : null;
  };

const switched = (name: string, { action, until }: SwitchRequest): string =>
  action === "hold" ? `${name} is held${until === undefined ? "" : ` until ${until}`}` : `${name} is released`;

async function turn(
  deps: AdminDeps,
  { context }: OpenQueue,
  target: HoldTarget,
  { action, reason, until }: SwitchRequest,
  what: Omit<Change, "action" | "reason">,
): Promise<Seen<Done>> {
  if (until !== undefined && action !== "hold") return wrongField("/until", "only a hold has an end");
  if (until !== undefined && Date.parse(until) <= deps.clock.nowMs()) return wrongField("/until", "is over already");
  return await change(deps, { ...what, action: `${target.kind}.${action}`, reason }, (operator) =>
    action === "hold" ? setHold(context, operator, target, until) : releaseHold(context, operator, target),
  );
}

/** A slip of the pen must not hold a collection that does not exist; one whose profile is gone can still be released. */
async function isCollection({ profiles, index }: AdminDeps, { context }: OpenQueue, name: string): Promise<boolean> {
  if (profiles.names().includes(name)) return true;
  const counted = await index.count(context.session);
  if (counted?.byCollection.has(name) === true) return true;
  const held = await readHoldViews(context.session);
  return held?.collections.has(name) === true;
}

const DONE = {
  hold: "held",
  release: "released",
  resume: "resumed",
  fail: "failed",
  delete: "deleted",
  priority: "its priority is changed",
  "update-reporting": "an update report is due",
} as const satisfies Readonly<Record<JobRequest["action"] | Exclude<BatchRequest["action"], "clean-up">, string>>;

const doneText = (id: string, action: keyof typeof DONE): string => `${id}: ${DONE[action]}`;
