/** Merritt's way to submit: a multipart form with the payload in it, answered by a batchState. */
import { formOperation, type Operation, type OperationSpec } from "@sluice/http-api";
import { parseObjectArk, printArk } from "@sluice/ingest-formats";
import { parseTimestamp } from "@sluice/queue-core";
import type { Request, Response } from "express";
import { z } from "zod";
import type { FieldProblem } from "../submission/field-problem.ts";
import { FORM_NAMES, requestOfForm, unknownFields } from "../submission/form-request.ts";
import { printBatchState } from "./batch-state.ts";
import { CONTENT_TYPES, RESPONSE_FORMS, type ResponseForm, responseFormOf } from "./merritt/elements.ts";
import type { HttpDeps } from "./deps.ts";
import { IdempotencyHeaders } from "./idempotency-key.ts";
import { PosterFormSchema } from "./poster-form.ts";
import { SUBMISSION_PROBLEMS } from "./submission-problems.ts";
import { type Accepted, type FormDialect, type FormFields, takeForm } from "./take-form.ts";

/** The path says whether it is an update, and may name the object. */
const MODES = { submit: "add", add: "add", update: "update" } as const;

export function posterOperations(deps: HttpDeps): readonly Operation[] {
  return Object.entries(MODES).flatMap(([verb, mode]) => {
    const take = (req: Request, res: Response): Promise<void> =>
      takeForm(deps, req, res, posterDialect(deps, req, res, mode));
    return [formOperation(specOf(verb, mode), take), formOperation(ofObject(specOf(verb, mode)), take)];
  });
}

const batchState = z.string().describe("Merritt's bat:batchState");

const specOf = (verb: string, mode: "add" | "update"): OperationSpec => ({
  id: `poster_${verb}`,
  method: "post",
  path: `/poster/${verb}`,
  group: "Merritt's form",
  permission: "submit",
  summary: mode === "add" ? "Submits, as Merritt's clients do" : "Submits a new version, as Merritt's clients do",
  headers: IdempotencyHeaders,
  body: { form: { fields: PosterFormSchema, files: "file" } },
  responses: {
    200: {
      description: "accepted; in the form that `responseForm` or Accept names",
      content: {
        "application/xml": batchState,
        "application/json": z.looseObject({}).describe("Merritt's bat:batchState"),
        "text/x-anvl": batchState,
      },
      headers: { BID: "the batch's id outside", hostname: "of the machine that took it" },
    },
  },
  problems: SUBMISSION_PROBLEMS,
});

/** The object that it is about stands in the path: /ark:/99999/fk4abc */
const ofObject = (spec: OperationSpec): OperationSpec => ({
  ...spec,
  id: `${spec.id}_object`,
  path: `${spec.path}/{scheme}/{shoulder}/{objectid}`,
  summary: `${spec.summary}; the path names the object`,
  params: z.object({
    scheme: z.string().describe("`ark:`"),
    shoulder: z.string().describe("name assigning authority"),
    objectid: z.string().describe("name"),
  }),
});

function posterDialect(deps: HttpDeps, req: Request, res: Response, mode: "add" | "update"): FormDialect {
  const objectId = objectOfPath(req);
  return {
    names: FORM_NAMES,
    problems: (fields) => [...formProblem(req, fields), ...objectProblem(fields, objectId)],
    requestOf(fields, payload) {
      const unknown = unknownFields(fields);
      if (unknown.length > 0) deps.log.warn({ fields: unknown.slice(0, 10) }, "unknown fields in a submission");
      const request = requestOfForm(fields, payload);
      return { ...request, submission_mode: mode, ...(objectId === null ? {} : { primary_id: objectId }) };
    },
    answer: (fields, accepted) => sendState(deps, res, responseForm(req, fields) ?? "xml", accepted),
  };
}

/** /update/ark:/99999/fk4abc; null when the path names no object. */
function objectOfPath(req: Request): string | null {
  const { scheme, shoulder, objectid } = req.params;
  if (scheme === undefined) return null;
  return `${String(scheme).replace(/:?$/, ":")}/${String(shoulder)}/${String(objectid)}`;
}

function objectProblem(fields: FormFields, objectId: string | null): readonly FieldProblem[] {
  const given = fields.get(FORM_NAMES.primary_id)?.trim() ?? "";
  if (objectId === null || given === "" || sameObject(given, objectId)) return [];
  return [{ field: FORM_NAMES.primary_id, detail: `is not the object of the URL, ${objectId}` }];
}

function sameObject(given: string, objectId: string): boolean {
  const [one, other] = [parseObjectArk(given), parseObjectArk(objectId)];
  return given === objectId || (one.ok && other.ok && printArk(one.value) === printArk(other.value));
}

function sendState(
  deps: HttpDeps,
  res: Response,
  form: ResponseForm,
  { uuid, replayed, profile, submission }: Accepted,
): void {
  const submittedAtMs = parseTimestamp(String(submission["submission_date"])) ?? deps.clock.nowMs();
  const { submitter, submission_mode: mode } = submission;
  if (replayed) res.set("Idempotent-Replayed", "true");
  res
    .status(200)
    .set({ BID: uuid, hostname: deps.hostname })
    .type(CONTENT_TYPES[form])
    .send(printBatchState({ batchId: uuid, update: mode === "update", submitter, submittedAtMs, profile }, form));
}

function formProblem(req: Request, fields: FormFields): readonly FieldProblem[] {
  if (responseForm(req, fields) !== null) return [];
  return [{ field: FORM_NAMES.response_form, detail: `expected ${RESPONSE_FORMS.join(", ")}` }];
}

/** null = a form that we do not speak. */
const responseForm = (req: Request, fields: FormFields): ResponseForm | null =>
  responseFormOf(req, fields.get(FORM_NAMES.response_form) ?? "");
