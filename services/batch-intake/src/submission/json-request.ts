import { z } from "zod";
import type { FieldNames, SubmissionRequest } from "./request.ts";

const text = z.string();

/** The body of POST /v1/batches. What is not in it is refused: a misspelt field must not be dropped in silence. */
export const BatchRequestSchema = z.strictObject({
  profile: text.describe("name of the collection's profile, ending with _content"),
  payload_url: text.describe("where the payload can be fetched: http or https, without user name"),
  payload_name: text.optional().describe("file name of the payload; from its URL if absent"),
  payload_size: z.number().int().min(0).optional().describe("size of the payload in bytes, if known"),
  type: text.optional().describe("type of the payload; found from its content if absent"),
  digest_type: text.optional(),
  digest_value: text.optional(),
  submitter: text.optional(),
  title: text.optional(),
  creator: text.optional(),
  date: text.optional(),
  primary_id: text.optional().describe("an ARK"),
  local_id: z
    .union([text, z.array(text).max(100)])
    .optional()
    .describe("one or several; in one text separated by ;"),
  notification: text.optional().describe("mail addresses, separated by commas"),
  notification_format: text.optional(),
  note: text.optional(),
});
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
  const { payload_url: url, payload_name: name, payload_size: size, local_id: localId, ...rest } = body;
  return {
    ...present(rest),
    payload: { kind: "url", ...present({ url, name, size: size?.toFixed(0) }) },
    ...(localId === undefined ? {} : { local_id: typeof localId === "string" ? [localId] : localId }),
  };
}

/** Without the keys whose value is undefined or an empty text: both mean "not given". */
export function present<T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const kept = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return Object.fromEntries(kept) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
