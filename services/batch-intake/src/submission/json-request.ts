import { z } from "zod";
import type { FieldNames, RequestedPayload, SubmissionRequest } from "./request.ts";

const text = z.string();

const localIds = z
  .union([text, z.array(text).max(100)])
  .optional()
  .describe("one or several; in one text separated by ;");

/** One object of a batch that is given in the request itself. */
export const ObjectSchema = z.strictObject({
  url: text.describe("where it can be fetched: http or https, without user name"),
  name: text.optional().describe("its file name; from the URL if absent"),
  digest_type: text.optional(),
  digest_value: text.optional(),
  size: z.number().int().min(0).optional().describe("in bytes"),
  local_id: localIds,
  primary_id: text.optional().describe("an ARK"),
  title: text.optional(),
  creator: text.optional(),
  date: text.optional(),
});

/** Fields that a form has too. */
const COMMON = {
  profile: text.describe("name of the collection's profile, ending with _content"),
  submission_mode: z.enum(["add", "update"]).optional().describe("add if absent"),
  payload_name: text.optional().describe("file name of the payload; from its URL or upload if absent"),
  type: text.optional().describe("type of the payload; found from its content if absent"),
  digest_type: text.optional(),
  digest_value: text.optional(),
  submitter: text.optional(),
  title: text.optional(),
  creator: text.optional(),
  date: text.optional(),
  primary_id: text.optional().describe("an ARK"),
  notification: text.optional().describe("mail addresses, separated by commas"),
  notification_format: text.optional(),
  note: text.optional(),
};

/** The body of POST /v1/batches. What is not in it is refused: a misspelt field must not be dropped in silence. */
export const BatchRequestSchema = z.strictObject({
  ...COMMON,
  payload_url: text.optional().describe("where the payload can be fetched; this or objects"),
  payload_size: z.number().int().min(0).optional().describe("size of the payload in bytes, if known"),
  local_id: localIds,
  objects: z.array(ObjectSchema).min(1).optional().describe("the objects of a batch; type says what each is"),
});

/** The fields of a form posted there, beside its files. */
export const BatchFormSchema = z.strictObject({
  ...COMMON,
  payload_size: text.optional().describe("size of the file in bytes, checked"),
  local_id: text.optional().describe("several are separated by ;"),
});
export type BatchForm = z.infer<typeof BatchFormSchema>;
export type BatchRequest = z.infer<typeof BatchRequestSchema>;

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

export function requestOfJson(body: BatchRequest): SubmissionRequest {
  const { objects: _objects, payload_url: url, payload_name: name, payload_size: size, ...rest } = body;
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
  }: Omit<BatchForm, "payload_name" | "payload_size" | "local_id"> & Pick<BatchRequest, "local_id">,
  payload: RequestedPayload,
): SubmissionRequest {
  return { ...present(rest), payload, ...(localId === undefined ? {} : { local_id: [localId].flat() }) };
}

/** Without the keys whose value is undefined or an empty text: both mean "not given". */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
