/** Batches are submitted: as JSON, or as a form that brings the payload along. */
import { callerOf, endpointSpec, isStillCaller, operation, type Operation, type Reply } from "@sluice/http-api";
import { inScope } from "@sluice/access";
import { Accepted, INTAKE, NewBatch, OBJECTS_MAX } from "@sluice/wire";
import type { Request } from "express";
import { schedule, type Scheduled } from "../submission/schedule.ts";
import { type Depositor, depositorOf } from "../submission/depositor.ts";
import { BatchFormSchema, JSON_NAMES } from "../submission/json-request.ts";
import { batchFormDialect } from "./batch-form.ts";
import { type HttpDeps, refusalProblem, TOKEN_ENDED, withRequest, wrongFields } from "./deps.ts";
import { IdempotencyHeaders, idempotencyKey } from "./idempotency-key.ts";
import { SUBMISSION_PROBLEMS } from "./submission-problems.ts";
import { takeForm } from "./take-form.ts";
import { submitNow } from "./submit-now.ts";

/** Some 50,000 objects; more belong into a manifest. */
export const BODY_MAX_BYTES = 16 * 1024 * 1024;
/** Of each object eleven: itself and its fields. */
const BODY_MAX_VALUES = 12 * OBJECTS_MAX;
/** Smaller bodies may name their profile anywhere. */
export const PROFILE_WITHIN_BYTES = 1024 * 1024;

export const submitOperations = (deps: HttpDeps): readonly Operation[] => [
  operation(
    {
      ...endpointSpec(INTAKE.submitBatch),
      description:
        "JSON with `payload_url`, or with `objects`; or a form with the same fields and the payload in `file`, several times " +
        "if need be. 202 means that it is kept and will be worked on, whatever happens to this service. With `firstRun` or " +
        "`repeat` it is submitted then, in your name, by a job of the job queue.",
      headers: IdempotencyHeaders,
      body: {
        json: NewBatch,
        limitBytes: BODY_MAX_BYTES,
        maxValues: BODY_MAX_VALUES,
        first: {
          name: JSON_NAMES.profile,
          withinBytes: PROFILE_WITHIN_BYTES,
          refuses: (profile, response) =>
            inScope(callerOf(response).scope, profile) ? null : refusalProblem({ kind: "not-theirs", profile }, "body"),
        },
        form: { fields: BatchFormSchema, files: "file" },
        example: { profile: "sluice_demo_content", payload_url: "https://example.org/batch.checkm", submitter: "ada" },
      },
      responses: {
        202: {
          description: "accepted",
          content: { "application/json": Accepted },
          headers: {
            Location: "where to look at it",
            "Idempotent-Replayed": "`true`: it was accepted before, under the same key",
          },
        },
      },
      problems: SUBMISSION_PROBLEMS,
    },
    async ({ body }, request, response) =>
      (await isStillCaller(response))
        ? await postBatch(withRequest(deps, response), depositorOf(callerOf(response)), body, request)
        : { problem: TOKEN_ENDED },
    { takeForm: (request, response) => takeForm(deps, request, response, batchFormDialect(response)) },
  ),
];

async function postBatch(deps: HttpDeps, depositor: Depositor, body: NewBatch, req: Request): Promise<Reply> {
  const key = idempotencyKey(req);
  if (!key.ok) return { problem: wrongFields([key.problem], "form") };
  if (body.firstRun !== undefined || body.repeat !== undefined)
    return scheduledReply(await schedule(deps, { body, depositor, key: key.key }));
  return submitNow(deps, depositor, body, key.key);
}

function scheduledReply(answer: Scheduled): Reply {
  if (answer.kind !== "scheduled") return { problem: refusalProblem(answer, "body") };
  const url = `/v1/schedules/${answer.job}`;
  return {
    status: 202,
    headers: answer.replayed ? { "Idempotent-Replayed": "true" } : {},
    body: { id: `job-${answer.job}`, bid: null, url, job: answer.job },
  };
}
