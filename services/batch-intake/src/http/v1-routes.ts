/** The JSON API: batches are submitted and watched. */
import {
  type BatchId,
  type JobId,
  jobIdOfUuid,
  parseBatchId,
  parseBatchUuid,
  parseJobId,
  parseJobUuid,
} from "@sluice/queue-core";
import type { Viewed } from "@sluice/queue-core";
import express, { type Request, type Response, Router } from "express";
import { accept } from "../submission/accept.ts";
import { BatchRequestSchema, JSON_NAMES, requestOfJson } from "../submission/json-request.ts";
import { ANONYMOUS, type HttpDeps, problemOf, RETRY_AFTER_SECONDS } from "./deps.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { fieldProblems, type Problem, sendProblem } from "./problem.ts";
import { showBatch, showJob } from "./views.ts";

const BODY_MAX = "256kb";

export function v1Routes(deps: HttpDeps): Router {
  const router = Router();
  router.post("/batches", express.json({ limit: BODY_MAX, strict: true }), (req, res) => postBatch(deps, req, res));
  router.get("/batches/:id", (req, res) => getBatch(deps, req, res));
  router.get("/jobs/:id", (req, res) => getJob(deps, req, res));
  return router;
}

async function postBatch(deps: HttpDeps, req: Request, res: Response): Promise<void> {
  if (!req.is("application/json")) {
    sendProblem(req, res, { code: "UNSUPPORTED_MEDIA", detail: "expected application/json" });
    return;
  }
  const key = idempotencyKey(req);
  if (!key.ok) {
    sendProblem(req, res, key.problem);
    return;
  }
  const body = BatchRequestSchema.safeParse(req.body);
  if (!body.success) {
    sendProblem(req, res, fieldProblems(body.error.issues.flatMap(issueProblems)));
    return;
  }
  const request = requestOfJson(body.data);
  const answer = await accept(deps, { request, names: JSON_NAMES, caller: ANONYMOUS, key: key.key, upload: null });
  if (answer.kind !== "accepted") {
    sendProblem(req, res, problemOf(answer));
    return;
  }
  if (answer.replayed) res.set("Idempotent-Replayed", "true");
  const url = `/v1/batches/${answer.uuid}`;
  res.status(202).location(url).json({ id: answer.uuid, bid: answer.id, url });
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly code?: string;
  readonly keys?: readonly string[];
}

/** zod names the object for unknown keys; we name the keys. */
function issueProblems({ path, message, code, keys = [] }: Issue) {
  if (code === "unrecognized_keys") return keys.map((field) => ({ field, detail: "there is no such field" }));
  return [{ field: path.map(String).join("/") || "body", detail: message }];
}

async function getBatch(deps: HttpDeps, req: Request, res: Response): Promise<void> {
  const id = await batchIdOf(deps, String(req.params["id"]));
  const view = id.kind === "found" ? await deps.queue.readBatch(id.value) : id;
  send(req, res, view, showBatch);
}

async function batchIdOf(deps: HttpDeps, raw: string): Promise<Viewed<BatchId> | NoId> {
  const bid = parseBatchId(raw);
  if (bid !== null) return { kind: "found", value: bid };
  const uuid = parseBatchUuid(raw);
  return uuid === null ? { kind: "no-id" } : deps.queue.batchOf(uuid);
}

async function getJob(deps: HttpDeps, req: Request, res: Response): Promise<void> {
  const id = jobIdOf(String(req.params["id"]));
  const view = id === null ? ({ kind: "no-id" } as const) : await deps.queue.readJob(id);
  send(req, res, view, showJob);
}

function jobIdOf(raw: string): JobId | null {
  const uuid = parseJobUuid(raw);
  return uuid === null ? parseJobId(raw) : jobIdOfUuid(uuid);
}

interface NoId {
  readonly kind: "no-id";
}

function send<T>(req: Request, res: Response, view: Viewed<T> | NoId, show: (value: T) => object): void {
  if (view.kind === "found") res.set("Cache-Control", "no-store").json(show(view.value));
  else sendProblem(req, res, viewProblem(view));
}

function viewProblem(view: Exclude<Viewed<unknown>, { kind: "found" }> | NoId): Problem {
  switch (view.kind) {
    case "no-id":
      return { code: "INVALID_ID", detail: "expected bid… or bid-UUID, jid… or jid-UUID" };
    case "none":
      return { code: "NOT_FOUND", detail: "there is none with this id, or it has been cleaned up" };
    case "broken":
      return { code: "UNEXPECTED", detail: view.problem };
    case "silence":
      return { code: "UNAVAILABLE", detail: "the queue does not answer", retryAfterSeconds: RETRY_AFTER_SECONDS };
  }
}
