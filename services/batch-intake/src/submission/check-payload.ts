import {
  detectPayloadType,
  isBatchType,
  isContainerName,
  parsePayloadType,
  type PayloadType,
} from "@sluice/ingest-formats";
import { type Upload, uploadUrl } from "@sluice/working-folder";
import { TYPE_TO_BE_FOUND } from "../payload-types.ts";
import type { Complaints } from "./check-submission.ts";
import type { RequestedPayload, SubmissionRequest, UploadedFile } from "./request.ts";
import { nameOfUrl, nameProblem } from "./payload-name.ts";
import { urlProblem } from "./url.ts";

export interface PayloadFacts {
  readonly url: string;
  readonly name: string;
  /** undefined = not known yet. */
  readonly size: number | undefined;
  /** A payload type, or TYPE_TO_BE_FOUND. */
  readonly type: string;
  /** Only when there are several. */
  readonly uploads?: readonly Upload[];
  readonly manifests?: number;
}

export function checkPayload(request: SubmissionRequest, complaints: Complaints): PayloadFacts | null {
  const { payload } = request;
  const given = request.type === undefined ? undefined : typeAsGiven(request.type, complaints);
  if (payload.kind === "url") return checkUrlPayload(payload, given, complaints);
  const [first, ...more] = payload.files.map((file) => checkUpload(file, given, complaints));
  if (first === undefined || first === null) return null;
  if (more.length === 0) return { ...first, manifests: payload.manifests ?? 0 };
  return checkSeveral(request, [first, ...more.filter((file) => file !== null)], complaints);
}

type UrlPayload = Extract<RequestedPayload, { kind: "url" }>;

function checkUrlPayload(
  payload: UrlPayload,
  given: PayloadType | undefined,
  complaints: Complaints,
): PayloadFacts | null {
  const url = checkUrl(payload.url, complaints);
  if (url === null) return null;
  const name = payload.name ?? nameOfUrl(url);
  const problem = nameProblem(name);
  if (problem !== null) return complaints.add("payload_name", problem);
  if (payload.size !== undefined && !/^\d{1,15}$/.test(payload.size))
    return complaints.add("payload_size", "is no number of bytes");
  const size = payload.size === undefined ? undefined : Number(payload.size);
  // One that is still out there is looked at when the batch is started: an answer must not wait for a fetch.
  return { url, name, size, type: given ?? (isContainerName(name) ? "container" : TYPE_TO_BE_FOUND) };
}

function checkUrl(given: string | undefined, complaints: Complaints): string | null {
  if (given === undefined) return complaints.add("payload_url", "is required: where the payload can be fetched");
  const problem = urlProblem(given);
  if (problem !== null) return complaints.add("payload_url", problem);
  return given;
}

function checkUpload(
  { name, size, head }: UploadedFile,
  given: PayloadType | undefined,
  complaints: Complaints,
): PayloadFacts | null {
  const problem = nameProblem(name);
  if (problem !== null) return complaints.add("payload_name", problem);
  return { url: uploadUrl(name), name, size, type: given ?? detectPayloadType(name, head) };
}

/** What can be said of one object only. */
const OF_ONE = ["digest_type", "digest_value", "primary_id", "local_id"] as const;

/** Each file becomes an object of its own. */
function checkSeveral(
  request: SubmissionRequest,
  files: readonly [PayloadFacts, ...PayloadFacts[]],
  complaints: Complaints,
): PayloadFacts {
  for (const field of OF_ONE) {
    if (request[field] !== undefined) complaints.add(field, "is for a submission with one file: each is an object");
  }
  for (const { name, type } of files) {
    const parsed = parsePayloadType(type);
    if (parsed.ok && isBatchType(parsed.value))
      complaints.add("type", `${name} is a ${type}: a batch manifest comes alone`);
  }
  return { ...files[0], uploads: files.map(({ name, size, type }) => ({ name, size: size ?? 0, type })) };
}

function typeAsGiven(given: string, complaints: Complaints): PayloadType | undefined {
  const parsed = parsePayloadType(given);
  if (parsed.ok) return parsed.value;
  complaints.add("type", parsed.problems.map(({ message }) => message).join("; "));
  return undefined;
}
