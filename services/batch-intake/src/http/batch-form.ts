/** The form of POST /v1/batches: fields as in its JSON, files beside them. */
import { readInput, type Reply } from "@sluice/http-api";
import type { Response } from "express";
import { BatchFormSchema, JSON_NAMES, requestOfBatchForm } from "../submission/json-request.ts";
import type { FieldProblem } from "../submission/field-problem.ts";
import type { Accepted, FormDialect, FormFields } from "./take-form.ts";

export function acceptedReply({ uuid, id, replayed }: Accepted): Extract<Reply, { status: number }> {
  const url = `/v1/batches/${uuid}`;
  return {
    status: 202,
    headers: { Location: url, ...(replayed ? { "Idempotent-Replayed": "true" } : {}) },
    body: { id: uuid, bid: id, url },
  };
}

export function batchFormDialect(res: Response): FormDialect {
  return {
    names: JSON_NAMES,
    problems: (fields) => problemsOf(fields),
    requestOf(fields, payload) {
      const form = BatchFormSchema.safeParse(Object.fromEntries(fields));
      return form.success ? requestOfBatchForm(form.data, payload) : { payload };
    },
    answer(_fields, accepted) {
      const { status, headers, body } = acceptedReply(accepted);
      res
        .status(status)
        .set(headers ?? {})
        .json(body);
    },
  };
}

function problemsOf(fields: FormFields): readonly FieldProblem[] {
  const form = readInput(BatchFormSchema, Object.fromEntries(fields), "form");
  if (form.ok) return [];
  return (form.problem.errors ?? []).map(({ field = "", detail }) => ({ field, detail }));
}
