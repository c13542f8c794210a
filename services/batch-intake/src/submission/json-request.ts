import { type NewBatch, SUBMISSION_FIELDS } from "@sluice/wire";
import { z } from "zod";
import type { FieldNames, RequestedPayload, SubmissionRequest } from "./request.ts";

/** The fields of a form posted to /v1/batches, beside its files. */
export const BatchFormSchema = z.strictObject({
  ...SUBMISSION_FIELDS,
  payload_size: z.string().optional().describe("size of the file in bytes, checked"),
  local_id: z.string().optional().describe("several are separated by ;"),
});
export type BatchForm = z.infer<typeof BatchFormSchema>;

/** JSON fields already have our names. */
export const JSON_NAMES: FieldNames = {
  profile: "profile",
  submitter: "submitter",
  payload_url: "payload_url",
  payload_name: "payload_name",
  payload_size: "payload_size",
  type: "type",
  digest_type: "digest_type",
  digest_value: "digest_value",
  title: "title",
  creator: "creator",
  date: "date",
  primary_id: "primary_id",
  local_id: "local_id",
  notification: "notification",
  notification_format: "notification_format",
  note: "note",
  response_form: "response_form",
  retain_target_url: "retain_target_url",
  resource_type: "resource_type",
  dublin_core: "dublin_core",
  erc: "erc",
};

export function requestOfJson(body: NewBatch): SubmissionRequest {
  const { objects: _, firstRun: _when, repeat: _again, ...request } = body;
  const { payload_url: url, payload_name: name, payload_size: size, ...rest } = request;
  return requestOf(rest, { kind: "url", ...present({ url, name, size: size?.toFixed(0) }) });
}

export function requestOfBatchForm(form: BatchForm, payload: RequestedPayload): SubmissionRequest {
  const { payload_name: _name, payload_size: _size, ...rest } = form;
  return requestOf(rest, payload);
}

function requestOf(
  {
    local_id: localId,
    ...rest
  }: Omit<BatchForm, "payload_name" | "payload_size" | "local_id"> & Pick<NewBatch, "local_id" | "dublin_core">,
  payload: RequestedPayload,
): SubmissionRequest {
  return { ...present(rest), payload, ...(localId === undefined ? {} : { local_id: [localId].flat() }) };
}

/** Without the keys whose value is undefined or an empty text: both mean "not given". */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
