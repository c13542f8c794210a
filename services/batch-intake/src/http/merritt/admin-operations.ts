/** /admin/*, as Merritt's admin tool asks an ingest service: what has a meaning here. docs/merritt.md names the others. */
import { type Caller, inScope } from "@sluice/access";
import {
  ANSWERED,
  callerOf,
  type Handled,
  operation,
  type Operation,
  type OperationSpec,
  problem,
} from "@sluice/http-api";
import { type HoldTarget, type Operator, parseTimestamp } from "@sluice/queue-core";
import type { Request, Response } from "express";
import { z } from "zod";
import type { HttpDeps } from "../deps.ts";
import { NO_QUEUE, NOWHERE } from "../reading/lookup.ts";
import { findBatch } from "../reading/lookup.ts";
import { CONTENT_TYPES, printState, responseFormOf } from "./elements.ts";
import { allProfiles, type Dated, folderState, oneProfile, profileNames, serviceState, type Stated } from "./states.ts";

/** More than any page of that tool shows. */
const FOLDERS_MAX = 500;
const DAY_MS = 86_400_000;

const form = z.object({ t: z.string().optional().describe("xml, json or anvl; json if absent, as there") });
const text = z.string().describe("one of Merritt's states");

const spec = <P extends z.ZodType>(
  rest: Pick<OperationSpec<P>, "id" | "path" | "summary" | "permission" | "method"> & { params?: P },
) =>
  ({
    ...rest,
    group: "Merritt's admin tool",
    query: form,
    responses: {
      200: {
        description: "it",
        content: { "application/json": z.looseObject({}), "application/xml": text, "text/x-anvl": text },
      },
    },
    problems: ["NOT_FOUND", "UNAVAILABLE"],
  }) as const satisfies OperationSpec;

export function merrittOperations(deps: HttpDeps): readonly Operation[] {
  const { merritt } = deps;
  const mine = ({ scope }: Caller) => merritt.profiles().filter(({ profileId }) => inScope(scope, profileId));

  const state = async (request: Request, response: Response): Promise<Handled> => {
    const holds = await merritt.holds();
    const { scope } = callerOf(response);
    const held = holds === null ? null : [...holds.collections].filter((name) => inScope(scope, name)).sort();
    const facts = { fleet: merritt.fleet(), version: deps.version, startedAtMs: merritt.startedAtMs };
    return send(request, response, serviceState({ ...facts, paused: holds?.queuePaused ?? null, held }));
  };

  const freeze = async (
    request: Request,
    response: Response,
    target: HoldTarget,
    verb: "freeze" | "thaw",
  ): Promise<Handled> => {
    const operator = operatorOf(callerOf(response), verb);
    const done = await (verb === "freeze" ? merritt.setHold(operator, target) : merritt.releaseHold(operator, target));
    if (done.kind === "lost") return { problem: NO_QUEUE };
    if (done.kind === "not-found") return { problem: NOWHERE };
    // Frozen twice is frozen: what the answer says is what counts.
    if (done.kind === "conflict") return { problem: problem("CONFLICT", done.why) };
    return await state(request, response);
  };

  return [
    ...["state", "help"].map((name) =>
      operation(
        spec({
          id: `merritt_admin_${name}`,
          method: "get",
          path: `/admin/${name}`,
          permission: "see-fleet",
          summary: "The service's state, with the collections that are held",
        }),
        (_input, request, response) => state(request, response),
      ),
    ),
    operation(
      spec({
        id: "merritt_profiles",
        method: "get",
        path: "/admin/profiles",
        permission: "see-fleet",
        summary: "The profiles' names",
      }),
      (_input, request, response) => send(request, response, profileNames(mine(callerOf(response)))),
    ),
    operation(
      spec({
        id: "merritt_profiles_full",
        method: "get",
        path: "/admin/profiles-full",
        permission: "act-on-deposits",
        summary: "The profiles",
      }),
      (_input, request, response) => send(request, response, allProfiles(mine(callerOf(response)))),
    ),
    operation(
      spec({
        id: "merritt_profile",
        method: "get",
        path: "/admin/profile/{profile}",
        permission: "act-on-deposits",
        summary: "One profile",
        params: z.object({ profile: z.string() }),
      }),
      ({ params }, request, response) => {
        const found = mine(callerOf(response)).find(({ profileId }) => profileId === params.profile);
        return found === undefined ? { problem: NOWHERE } : send(request, response, oneProfile(found));
      },
    ),
    operation(
      spec({
        id: "merritt_batches",
        method: "get",
        path: "/admin/bids/{days}",
        permission: "see-fleet",
        summary: "Batches of the last days, newest first",
        params: z.object({ days: z.coerce.number().int().min(0).max(3_650) }),
      }),
      async ({ params }, request, response) => {
        const batches = await recentBatches(deps, callerOf(response), params.days);
        return batches === null ? { problem: NO_QUEUE } : send(request, response, folderState(batches));
      },
    ),
    ...["/admin/bid/{id}", "/admin/bid/{id}/{days}"].map((path, i) =>
      operation(
        spec({
          id: `merritt_batch_${i}`,
          method: "get",
          path,
          permission: "see-fleet",
          summary: "The jobs of a batch",
          params: z.object({ id: z.string(), days: z.coerce.number().int().min(0).max(3_650).optional() }),
        }),
        async ({ params }, request, response) => {
          const jobs = await jobsOf(deps, callerOf(response), params.id, params.days);
          return "problem" in jobs ? jobs : send(request, response, folderState(jobs));
        },
      ),
    ),
    ...(["freeze", "thaw"] as const).flatMap((verb) => [
      operation(
        spec({
          id: `merritt_submissions_${verb}`,
          method: "post",
          path: `/admin/submissions/${verb}`,
          permission: "act-on-fleet",
          summary: verb === "freeze" ? "Pauses the queue" : "Ends the pause of the queue",
        }),
        (_input, request, response) => freeze(request, response, { kind: "queue" }, verb),
      ),
      operation(
        spec({
          id: `merritt_collection_${verb}`,
          method: "post",
          path: `/admin/submission/${verb}/{collection}`,
          permission: "act-on-deposits",
          summary: verb === "freeze" ? "Holds a collection" : "Releases a collection",
          params: z.object({ collection: z.string() }),
        }),
        async ({ params: { collection: profile } }, request, response) =>
          // Before the queue is asked: whether it answers is nothing that a stranger's collection tells.
          inScope(callerOf(response).scope, profile)
            ? freeze(request, response, { kind: "collection", profile }, verb)
            : { problem: NOWHERE },
      ),
    ]),
  ];
}

/** The admin tool asks for JSON by leaving the form out. */
function send(request: Request, response: Response, { root, vocabulary }: Stated): Handled {
  const given = typeof request.query["t"] === "string" ? request.query["t"] : "";
  const asked = responseFormOf(request, given, "json");
  if (asked === null) return { problem: problem("INVALID_REQUEST", "t: expected xml, json or anvl") };
  response
    .status(200)
    .type(CONTENT_TYPES[asked])
    .send(printState(root, asked, vocabulary));
  return ANSWERED;
}

const operatorOf = ({ name, id, scope }: Caller, verb: string): Operator => ({
  name,
  caller: id,
  reason: `${verb} by Merritt's admin interface`,
  ...(scope === "all" ? {} : { collections: [...scope] }),
});

async function recentBatches(deps: HttpDeps, { scope }: Caller, days: number): Promise<readonly Dated[] | null> {
  const sinceMs = deps.clock.nowMs() - days * DAY_MS;
  const page = await deps.reading.reader.listBatches({
    limit: FOLDERS_MAX,
    wants: ({ submission, status }) =>
      inScope(scope, submission.profile_name) && (parseTimestamp(status.last_modified) ?? 0) >= sinceMs,
  });
  return (
    page?.items.map(({ id, submission, status }) => ({ name: submission.batchID ?? id, date: status.last_modified })) ??
    null
  );
}

async function jobsOf(deps: HttpDeps, { scope }: Caller, raw: string, days: number | undefined) {
  const found = await findBatch(deps.reading, raw);
  if (found.kind === "problem") return { problem: found.problem };
  if (found.kind === "archive") return { problem: NOWHERE };
  if (!inScope(scope, found.value.submission.profile_name)) return { problem: NOWHERE };
  const sinceMs = days === undefined ? -Infinity : deps.clock.nowMs() - days * DAY_MS;
  const page = await deps.reading.reader.listJobs(found.value.id, { limit: FOLDERS_MAX });
  if (page === null) return { problem: NO_QUEUE };
  return page.items
    .map(({ id, configuration, status }): Dated => ({ name: configuration.jobID ?? id, date: status.last_modified }))
    .filter(({ date }) => (parseTimestamp(date) ?? Infinity) >= sinceMs);
}
