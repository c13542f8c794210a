import { detectPayloadType, isContainerName, parsePayloadType, type PayloadType } from "@sluice/ingest-formats";
import { uploadUrl } from "../payload-types.ts";
import { TYPE_TO_BE_FOUND } from "../payload-types.ts";
import type { Complaints } from "./check-submission.ts";
import type { RequestedPayload, SubmissionRequest } from "./request.ts";
import { nameOfUrl, nameProblem } from "./payload-name.ts";
import { isPlainText, TEXT_MAX } from "./text.ts";

export interface PayloadFacts {
  readonly url: string;
  readonly name: string;
  /** undefined = not known yet. */
  readonly size: number | undefined;
  /** A payload type, or TYPE_TO_BE_FOUND. */
  readonly type: string;
}

export function checkPayload(request: SubmissionRequest, complaints: Complaints): PayloadFacts | null {
  const { payload } = request;
  const place = payload.kind === "url" ? checkUrlPayload(payload, complaints) : checkUpload(payload, complaints);
  const type = checkType(request.type, payload, place?.name ?? "", complaints);
  return place === null || type === null ? null : { ...place, type };
}

type UrlPayload = Extract<RequestedPayload, { kind: "url" }>;
type UploadPayload = Extract<RequestedPayload, { kind: "upload" }>;
type Place = Omit<PayloadFacts, "type">;

function checkUrlPayload(payload: UrlPayload, complaints: Complaints): Place | null {
  const url = checkUrl(payload.url, complaints);
  if (url === null) return null;
  const name = payload.name ?? nameOfUrl(url);
  const problem = nameProblem(name);
  if (problem !== null) return complaints.add("payload_name", problem);
  if (payload.size !== undefined && !/^\d{1,15}$/.test(payload.size))
    return complaints.add("payload_size", "is no number of bytes");
  return { url, name, size: payload.size === undefined ? undefined : Number(payload.size) };
}

function checkUrl(given: string | undefined, complaints: Complaints): string | null {
  if (given === undefined) return complaints.add("payload_url", "is required: where the payload can be fetched");
  if (given.length > TEXT_MAX || !isPlainText(given) || !URL.canParse(given))
    return complaints.add("payload_url", "is no URL");
  const url = new URL(given);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return complaints.add("payload_url", "expected an http or https URL");
  // It would stand in the queue's records for all to read.
  if (url.username !== "" || url.password !== "")
    return complaints.add("payload_url", "must not carry a user name or password");
  return given;
}

function checkUpload(payload: UploadPayload, complaints: Complaints): Place | null {
  const problem = nameProblem(payload.name);
  if (problem !== null) return complaints.add("payload_name", problem);
  return { url: uploadUrl(payload.name), name: payload.name, size: payload.size };
}

function checkType(
  given: string | undefined,
  payload: RequestedPayload,
  name: string,
  complaints: Complaints,
): string | null {
  return given === undefined ? typeFromContent(payload, name) : typeAsGiven(given, complaints);
}

function typeAsGiven(given: string, complaints: Complaints): PayloadType | null {
  const parsed = parsePayloadType(given);
  if (parsed.ok) return parsed.value;
  return complaints.add("type", parsed.problems.map(({ message }) => message).join("; "));
}

/** A payload that is still out there is looked at when the batch is started: an answer must not wait for a fetch. */
function typeFromContent(payload: RequestedPayload, name: string): PayloadType | typeof TYPE_TO_BE_FOUND {
  if (payload.kind === "upload") return detectPayloadType(name, payload.head);
  return isContainerName(name) ? "container" : TYPE_TO_BE_FOUND;
}
