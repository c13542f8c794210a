/** One order for many jobs: counted first, then carried out in the background, with progress. */
import { type Caller, inScope } from "@sluice/access";
import { type Operation, problem, type Problem } from "@sluice/http-api";
import {
  beginOperation,
  countJobs,
  type JobId,
  jobRow,
  isFinal,
  JOB_ACTION_SAYS,
  JOB_STATES,
  listOperations,
  type OperationRecord,
  type ReadOperation,
  readJobs,
  readOperation,
  selectJobs,
  type SelectionCount,
  stopOperation,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import { ADMIN, type BulkPreview, type BulkRequest, type OperationView, rfc3339 } from "@sluice/wire";
import { readFilter } from "../bulk/filter.ts";
import { connected, nothing, SILENCE } from "./answers.ts";
import { change, confirmation } from "./changes.ts";
import type { AdminDeps } from "./deps.ts";
import { orderOf } from "./job-action.ts";
import { type Seen, serve } from "./serve.ts";
import { whyNobodyIsTold } from "./told.ts";

const OPERATIONS_SHOWN = 50;

export const bulkOperations = (deps: AdminDeps): readonly Operation[] => [
  serve(ADMIN.bulkPreview, async ({ body, caller }) => {
    const counted = await count(deps, body, caller);
    if ("problem" in counted) return counted;
    const value = await previewOf(counted.open, body, counted.found);
    return value === null ? SILENCE : { value };
  }),
  serve(ADMIN.bulkAction, async ({ body, caller, response }) => {
    const wish = orderOf(body);
    if ("problem" in wish) return wish;
    const chosen = await choose(deps, body, caller);
    if ("problem" in chosen) return chosen;
    const { open, jobs } = chosen;
    const total = jobs.length;
    if (body.expected_count !== undefined && body.expected_count !== total) {
      return { problem: problem("CONFLICT", `the filter finds ${total} jobs now, not ${body.expected_count}`) };
    }
    if (body.dry_run) return { value: notRun(body, caller, total, deps.clock.nowMs()) };
    if (needsConfirmation(deps, body, chosen.profiles) && body.confirm !== true) {
      const what =
        body.action === "delete" ? JOB_ACTION_SAYS.delete : "Some depositors have neither callback nor mails.";
      return confirmation(`${body.action} for ${total} jobs, each of them: ${what}`);
    }
    let id = "";
    const what = { caller, response, action: `bulk.${body.action}`, target: `${total} jobs`, what: "operation" };
    const begun = await change(deps, { ...what, reason: body.reason, message: "" }, async (operator) => {
      const began = await beginOperation(open.context, operator, wish.order, jobs);
      id = began.id;
      return began.result;
    });
    if ("problem" in begun) return begun;
    return await look(deps, id, caller);
  }),
  serve(ADMIN.operations, async ({ caller }) => {
    const open = connected(deps.queue);
    const all = open === null ? null : await listOperations(open.context.session, OPERATIONS_SHOWN);
    if (all === null) return SILENCE;
    return { value: { items: all.filter(({ record }) => isTheirs(record, caller)).map(operationView) } };
  }),
  serve(ADMIN.operation, ({ params, caller }) => look(deps, params.id, caller)),
  serve(ADMIN.operationEvents, ({ params, caller, request, response }) =>
    deps.topics.stream(
      {
        key: `operation ${params.id}`,
        event: "operation",
        async look() {
          const seen = await look(deps, params.id, caller);
          return "problem" in seen ? seen : { ...seen, ended: seen.value.state !== "running" };
        },
      },
      request,
      response,
    ),
  ),
  serve(ADMIN.stopOperation, async ({ params: { id }, query, caller, response }) => {
    const open = connected(deps.queue);
    if (open === null) return SILENCE;
    const seen = await look(deps, id, caller);
    if ("problem" in seen) return seen;
    const what = { caller, response, action: "bulk.stop", target: id, what: "operation", message: "" };
    const stopped = await change(deps, { ...what, reason: query.reason ?? "stopped" }, (operator) =>
      stopOperation(open.context, operator, id),
    );
    return "problem" in stopped ? stopped : await look(deps, id, caller);
  }),
];

type Counted = { readonly open: OpenQueue; readonly found: SelectionCount } | { readonly problem: Problem };

async function count({ queue, clock }: AdminDeps, { filter }: BulkRequest, { scope }: Caller): Promise<Counted> {
  const open = connected(queue);
  if (open === null) return SILENCE;
  const read = await readFilter(open, filter, scope);
  if ("problem" in read) return read;
  const found = await countJobs(open.context.session, read.filter, clock.nowMs());
  return found === null ? SILENCE : { open, found };
}

interface Chosen {
  readonly open: OpenQueue;
  readonly jobs: readonly JobId[];
  readonly profiles: ReadonlySet<string>;
}

/** Whose collections they are in is read only where it must be known: for a hundred thousand jobs that takes a while. */
async function choose(
  { queue, clock }: AdminDeps,
  { filter, action }: BulkRequest,
  { scope }: Caller,
): Promise<Chosen | { readonly problem: Problem }> {
  const open = connected(queue);
  if (open === null) return SILENCE;
  const read = await readFilter(open, filter, scope);
  if ("problem" in read) return read;
  const jobs: JobId[] = [];
  const profiles = new Set<string>();
  const options = { nowMs: clock.nowMs(), withCollection: action === "fail" };
  for await (const page of selectJobs(open.context.session, read.filter, options)) {
    if (page.kind === "silence") return SILENCE;
    for (const { id, collection } of page.jobs) {
      jobs.push(id);
      if (collection !== undefined) profiles.add(collection);
    }
  }
  return { open, jobs, profiles };
}

/** What is deleted is gone for good; a failure is told by callback or mail, where the collection has one. */
function needsConfirmation(
  { profiles: known }: AdminDeps,
  { action }: BulkRequest,
  profiles: ReadonlySet<string>,
): boolean {
  if (action === "delete") return true;
  if (action !== "fail") return false;
  return [...profiles].some((name) => whyNobodyIsTold({}, known.get(name)) !== null);
}

async function previewOf(open: OpenQueue, { action }: BulkRequest, found: SelectionCount): Promise<BulkPreview | null> {
  const views = await readJobs(
    open.context.session,
    found.examples.map(({ id }) => id),
  );
  if (views === null) return null;
  const allowed = JOB_STATES.filter((state) =>
    action === "priority" ? !isFinal(state) : jobRow(state).operator[action] !== undefined,
  );
  const byState = Object.entries(found.byState);
  return {
    count: found.total,
    by_state: Object.fromEntries(byState),
    by_profile: { ...found.byCollection },
    not_allowed: byState
      .filter(([state]) => !allowed.some((each) => each === state))
      .reduce((sum, [, jobs]) => sum + jobs, 0),
    examples: views.flatMap((view) => {
      if (view.kind !== "found") return [];
      const { id, status, configuration } = view.value;
      return [{ id, status: status.status, profile: configuration.profile_name, message: status.message }];
    }),
  };
}

/** Operations of others reach into collections that the caller may not see. */
const isTheirs = ({ collections }: OperationRecord, { scope }: Caller): boolean =>
  scope === "all" || collections?.every((each) => inScope(scope, each)) === true;

async function look({ queue }: AdminDeps, id: string, caller: Caller): Promise<Seen<OperationView>> {
  const open = connected(queue);
  const found = open === null ? null : await readOperation(open.context.session, id);
  if (found === null) return SILENCE;
  if (found === "none" || !isTheirs(found.record, caller)) return nothing("operation");
  return { value: operationView(found) };
}

function operationView({ id, record }: ReadOperation): OperationView {
  const { action, by, reason, state, total, applied, refused } = record;
  const started = rfc3339(record.started) ?? new Date(0).toISOString();
  return { id, action, by, reason, state, started, ended: rfc3339(record.ended ?? null), total, applied, refused };
}

const notRun = ({ action, reason }: BulkRequest, { name }: Caller, total: number, nowMs: number): OperationView => {
  const now = new Date(nowMs).toISOString();
  return { id: "", action, by: name, reason, state: "done", started: now, ended: now, total, applied: 0, refused: [] };
};
