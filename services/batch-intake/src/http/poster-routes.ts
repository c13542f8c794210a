/** Merritt's way to submit: a multipart form with the payload in it, answered by a batchState. */
import { randomUUID } from "node:crypto";
import { type Problem, sendProblem } from "@sluice/http-api";
import { parseTimestamp } from "@sluice/queue-core";
import { type Request, type Response, Router } from "express";
import type { IncomingFolder } from "../files/incoming.ts";
import { type Acceptance, accept, type WaitingUpload } from "../submission/accept.ts";
import type { FieldProblem } from "../submission/field-problem.ts";
import { FORM_NAMES, requestOfForm, unknownFields } from "../submission/form-request.ts";
import { CONTENT_TYPES, parseResponseForm, printBatchState, RESPONSE_FORMS, type ResponseForm } from "./batch-state.ts";
import { ANONYMOUS, type HttpDeps, refusalProblem, uploadProblem, wrongFields } from "./deps.ts";
import { idempotencyKey } from "./idempotency-key.ts";
import { receiveForm, type ReceivedFile, type ReceivedForm } from "./receive-form.ts";

/** An upload takes as long as it takes; only a client that sends nothing for so long is given up. */
const SILENCE_MAX_MS = 120_000;

export function posterRoutes(deps: HttpDeps): Router {
  const router = Router();
  router.post("/submit", (req, res) => postForm(deps, req, res));
  return router;
}

async function postForm(deps: HttpDeps, req: Request, res: Response): Promise<void> {
  req.setTimeout(SILENCE_MAX_MS);
  const incoming = await deps.incoming.open(randomUUID());
  if (!incoming.ok) {
    refuse(res, uploadProblem(incoming.error));
    return;
  }
  try {
    const received = await receiveForm(req, incoming.value, deps.uploadMaxBytes);
    if (received.ok) await submit(deps, req, res, received.form, incoming.value);
    else if (received.problem !== null) refuse(res, received.problem);
    else res.destroy();
  } finally {
    await incoming.value.discard();
  }
}

/** Whoever is still sending is told not to: the connection ends with this answer. */
function refuse(res: Response, problem: Problem): void {
  res.set("Connection", "close");
  sendProblem(res, problem);
}

async function submit(
  deps: HttpDeps,
  req: Request,
  res: Response,
  { fields, file }: ReceivedForm,
  incoming: IncomingFolder,
): Promise<void> {
  const key = idempotencyKey(req);
  const form = responseForm(req, fields.get(FORM_NAMES.response_form));
  if (!key.ok || form === null || file === null || sizeProblem(fields, file) !== null) {
    refuse(res, wrongFields(formProblems(key, form, fields, file), "form"));
    return;
  }
  const given = fields.get(FORM_NAMES.payload_name) ?? "";
  const name = given === "" ? file.name : given;
  const payload = {
    kind: "upload",
    name,
    size: file.bytes,
    sha256: file.digests.sha256 ?? "",
    head: file.head,
  } as const;
  const answer = await accept(deps, {
    request: requestOfForm(fields, payload),
    names: FORM_NAMES,
    caller: ANONYMOUS,
    key: key.key,
    upload: waitingUpload(deps, incoming, file, name),
  });
  const unknown = unknownFields(fields);
  if (unknown.length > 0) deps.log.warn({ fields: unknown.slice(0, 10) }, "unknown fields in a submission");
  if (answer.kind === "accepted") sendState(deps, res, form, answer);
  else sendProblem(res, refusalProblem(answer, "form"));
}

function waitingUpload(deps: HttpDeps, incoming: IncomingFolder, file: ReceivedFile, name: string): WaitingUpload {
  const noSignal = new AbortController().signal;
  return {
    sha256: file.digests.sha256 ?? "",
    async digestOf(algorithm) {
      const known = file.digests[algorithm];
      if (known !== undefined) return known;
      const computed = await incoming.digestsOf([algorithm], noSignal);
      return computed.ok ? (computed.value[algorithm] ?? null) : null;
    },
    becomeBatch: (id) => incoming.becomeBatch(id, name),
    drop: (id) => deps.removeBatchFolder(id),
  };
}

function sendState(
  deps: HttpDeps,
  res: Response,
  form: ResponseForm,
  { uuid, replayed, profile, submission }: Extract<Acceptance, { kind: "accepted" }>,
): void {
  const submittedAtMs = parseTimestamp(String(submission["submission_date"])) ?? deps.clock.nowMs();
  if (replayed) res.set("Idempotent-Replayed", "true");
  res
    .status(200)
    .set({ BID: uuid, hostname: deps.hostname })
    .type(CONTENT_TYPES[form])
    .send(printBatchState({ batchId: uuid, submitter: submission.submitter, submittedAtMs, profile }, form));
}

/** The field counts, then what the client accepts, then XML. null = a form that we do not speak. */
function responseForm(req: Request, given: string | undefined): ResponseForm | null {
  if (given !== undefined && given.trim() !== "") return parseResponseForm(given);
  const accepted = req.accepts(["application/xml", "text/xml", "application/json", "text/x-anvl", "text/anvl"]);
  if (accepted === "application/json") return "json";
  return accepted === "text/x-anvl" || accepted === "text/anvl" ? "anvl" : "xml";
}

/** What is wrong with the form itself; the submission in it is checked by others. */
function formProblems(
  key: ReturnType<typeof idempotencyKey>,
  form: ResponseForm | null,
  fields: ReadonlyMap<string, string>,
  file: ReceivedFile | null,
): readonly FieldProblem[] {
  const wrong = file === null ? { field: "file", detail: "is required: the payload" } : sizeProblem(fields, file);
  return [
    ...(key.ok ? [] : [key.problem]),
    ...(form === null ? [{ field: FORM_NAMES.response_form, detail: `expected ${RESPONSE_FORMS.join(", ")}` }] : []),
    ...(wrong === null ? [] : [wrong]),
  ];
}

function sizeProblem(fields: ReadonlyMap<string, string>, file: ReceivedFile): FieldProblem | null {
  const size = fields.get(FORM_NAMES.payload_size)?.trim() ?? "";
  if (size === "" || size === String(file.bytes)) return null;
  return { field: FORM_NAMES.payload_size, detail: `the file has ${file.bytes} bytes, not ${size}` };
}
