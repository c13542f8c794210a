/** The JSON API: batches are submitted and watched. */
import { jsonBodies, problem, type Problem, readInput, type Reply, route } from "@sluice/http-api";
import {
  type BatchId,
  type JobId,
  jobIdOfUuid,
  parseBatchId,
  parseBatchUuid,
  parseJobId,
  parseJobUuid,
  type Viewed,
} from "@sluice/queue-core";
import { type Request, Router } from "express";
import { accept } from "../submission/accept.ts";
import { acceptedReply, batchFormDialect } from "./batch-form.ts";
import { takeObjects } from "./take-objects.ts";
import { takeForm } from "./take-form.ts";
import { BatchRequestSchema, JSON_NAMES, requestOfJson } from "../submission/json-request.ts";
import { ANONYMOUS, type HttpDeps, refusalProblem, unavailable, wrongFields } from "./deps.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { showBatch, showJob } from "./views.ts";

/** Some 50,000 objects; more belong into a manifest. */
const BODY_MAX_BYTES = 16 * 1024 * 1024;

export function v1Routes(deps: HttpDeps): Router {
  const router = Router();
  router.post(
    "/batches",
    (req, res, next) => (isForm(req) ? takeForm(deps, req, res, batchFormDialect(res)) : next()),
    jsonBodies(BODY_MAX_BYTES),
    route((req) => postBatch(deps, req)),
  );
  router.get(
    "/batches/:id",
    route((req) => getBatch(deps, idOf(req))),
  );
  router.get(
    "/jobs/:id",
    route((req) => getJob(deps, idOf(req))),
  );
  return router;
}

const idOf = (req: Request): string => String(req.params["id"]);

const isForm = (req: Request): boolean => /^multipart\/form-data\b/i.test(req.get("content-type") ?? "");

async function postBatch(deps: HttpDeps, req: Request): Promise<Reply> {
  if (req.body === undefined)
    return { problem: problem("UNSUPPORTED_MEDIA_TYPE", "expected application/json or multipart/form-data") };
  const key = idempotencyKey(req);
  if (!key.ok) return { problem: wrongFields([key.problem], "form") };
  const body = readInput(BatchRequestSchema, req.body);
  if (!body.ok) return body;
  if (body.value.objects !== undefined) return takeObjects(deps, body.value, body.value.objects, key.key);
  const request = requestOfJson(body.value);
  const answer = await accept(deps, { request, names: JSON_NAMES, caller: ANONYMOUS, key: key.key, upload: null });
  return answer.kind === "accepted" ? acceptedReply(answer) : { problem: refusalProblem(answer, "body") };
}

async function getBatch(deps: HttpDeps, raw: string): Promise<Reply> {
  const id = await batchIdOf(deps, raw);
  return replyOf(id.kind === "found" ? await deps.queue.readBatch(id.value) : id, showBatch);
}

async function batchIdOf(deps: HttpDeps, raw: string): Promise<Viewed<BatchId> | NoId> {
  const bid = parseBatchId(raw);
  if (bid !== null) return { kind: "found", value: bid };
  const uuid = parseBatchUuid(raw);
  return uuid === null ? NO_ID : deps.queue.batchOf(uuid);
}

async function getJob(deps: HttpDeps, raw: string): Promise<Reply> {
  const id = jobIdOf(raw);
  return replyOf(id === null ? NO_ID : await deps.queue.readJob(id), showJob);
}

function jobIdOf(raw: string): JobId | null {
  const uuid = parseJobUuid(raw);
  return uuid === null ? parseJobId(raw) : jobIdOfUuid(uuid);
}

interface NoId {
  readonly kind: "no-id";
}
const NO_ID: NoId = { kind: "no-id" };

function replyOf<T>(view: Viewed<T> | NoId, show: (value: T) => object): Reply {
  return view.kind === "found" ? { status: 200, body: show(view.value) } : { problem: viewProblem(view) };
}

function viewProblem(view: Exclude<Viewed<unknown>, { kind: "found" }> | NoId): Problem {
  switch (view.kind) {
    case "no-id":
      return wrongFields([{ field: "id", detail: "expected bid… or bid-UUID, jid… or jid-UUID" }], "form");
    case "none":
      return problem("NOT_FOUND", "there is none with this id, or it has been cleaned up");
    case "broken":
      return problem("INTERNAL_ERROR", view.problem);
    case "silence":
      return unavailable("the queue does not answer");
  }
}
