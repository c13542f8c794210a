/** Turns what a depositor asked for into a submission, or says what is wrong with every field of it. Pure. */
import {
  describeProblem,
  parseObjectArk,
  parseDigest,
  parseErc,
  parseLocalIds,
  printArk,
  type Profile,
} from "@sluice/ingest-formats";
import { mayBeTold } from "@sluice/profile-store";
import type { Submission } from "@sluice/queue-core";
import { inlineManifests } from "@sluice/working-folder";
import { checkPayload } from "./check-payload.ts";
import type { Depositor } from "./depositor.ts";
import { type Checked, type FieldProblem, WHOLE } from "./field-problem.ts";
import type { FieldName, FieldNames, SubmissionRequest } from "./request.ts";
import { isPlainText, parseMailAddresses, TEXT_MAX } from "./text.ts";

export interface SubmissionChecks {
  /** How this way of submitting names the fields, for messages. */
  readonly names: FieldNames;
  readonly profileOf: (
    name: string,
  ) => { readonly ok: true; readonly profile: Profile } | { readonly ok: false; readonly problem: string };
  readonly depositor: Pick<Depositor, "name" | "signature">;
  /** As it will stand in the record. */
  readonly submittedAt: string;
}

/** Collects problems under the caller's own names. */
export class Complaints {
  readonly problems: FieldProblem[] = [];
  readonly #names: FieldNames;

  constructor(names: FieldNames) {
    this.#names = names;
  }

  /** Answers null, for "there is no value": `return complaints.add(…)`. */
  add(field: FieldName, detail: string): null {
    this.problems.push({ field: this.#names[field], detail });
    return null;
  }
}

export function checkSubmission(asked: SubmissionRequest, checks: SubmissionChecks): Checked<Submission> {
  const complaints = new Complaints(checks.names);
  const request = withErc(asked, complaints);
  checkTexts(request, complaints);
  const profile = checkProfile(request.profile, checks, complaints);
  const payload = checkPayload(request, complaints);
  const digest = checkDigest(request, complaints);
  const primaryId = checkPrimaryId(request.primary_id, complaints);
  const notification = checkNotification(request.notification, profile, checks.depositor.signature, complaints);
  if (complaints.problems.length > 0 || profile === null || payload === null)
    return { ok: false, problems: complaints.problems };

  const localIds = parseLocalIds((request.local_id ?? []).join(";"));
  const submission: Submission = {
    profile_name: profile.profileId,
    submitter: request.submitter ?? checks.depositor.name,
    payload_url: payload.url,
    erc_what: request.title,
    erc_who: request.creator,
    erc_when: request.date,
    erc_where: primaryId ?? (localIds.length > 0 ? localIds.join(";") : undefined),
    type: payload.type,
    submission_mode: request.submission_mode ?? "add",
    batchID: undefined,
    digest_type: digest?.algorithm,
    digest_value: digest?.value,
    notification: notification ?? undefined,
    response_type: request.response_form,
    request_digest: undefined,
    payload_name: payload.name,
    payload_size: payload.size,
    uploads: payload.uploads,
    primary_id: primaryId ?? undefined,
    local_id: localIds.length > 0 ? localIds : undefined,
    submission_date: checks.submittedAt,
    submitted_by: checks.depositor.signature ?? undefined,
    ...inlineManifests(payload.manifests ?? 0),
    ...passedOn(request),
  };
  return withinBound(submission);
}

/** Every job of the batch carries a copy of most of it, in a node of its own. */
const SUBMISSION_MAX_BYTES = 32 * 1024;

function withinBound(submission: Submission): Checked<Submission> {
  if (Buffer.byteLength(JSON.stringify(submission)) <= SUBMISSION_MAX_BYTES) return { ok: true, value: submission };
  const detail = `all fields together have more than ${SUBMISSION_MAX_BYTES} bytes`;
  return { ok: false, problems: [{ field: WHOLE, detail }] };
}

/** What later stages read under Merritt's own names. */
function passedOn(request: SubmissionRequest): Record<string, string | undefined> {
  const dublinCore = new Map(
    Object.entries(request.dublin_core ?? {}).map(([element, value]) => [`DC${element}`, value]),
  );
  return {
    note: request.note,
    notificationFormat: request.notification_format,
    retainTargetURL: request.retain_target_url,
    DataCiteResourceType: request.resource_type,
    ...Object.fromEntries(dublinCore),
  };
}

function withErc({ erc, ...request }: SubmissionRequest, complaints: Complaints): Omit<SubmissionRequest, "erc"> {
  if (erc === undefined) return request;
  const parsed = parseErc(erc);
  if (!parsed.ok) {
    complaints.add("erc", parsed.problems.map(describeProblem).join("; "));
    return request;
  }
  const { who, what, when, primaryId, localIds } = parsed.value;
  return {
    ...(what === undefined ? {} : { title: what }),
    ...(who === undefined ? {} : { creator: who }),
    ...(when === undefined ? {} : { date: when }),
    ...(primaryId === undefined ? {} : { primary_id: primaryId }),
    ...(localIds.length === 0 ? {} : { local_id: localIds }),
    ...request,
  };
}

function checkTexts(request: SubmissionRequest, complaints: Complaints): void {
  const {
    payload: _payload,
    submission_mode: _mode,
    dublin_core: dublinCore = {},
    local_id: localIds = [],
    ...texts
  } = request;
  const fields: [FieldName, string][] = [
    ...(Object.entries(texts) as [FieldName, string][]),
    ...localIds.map((id): [FieldName, string] => ["local_id", id]),
    ...Object.values(dublinCore).map((value): [FieldName, string] => ["dublin_core", value]),
  ];
  for (const [field, value] of fields) {
    if (!isPlainText(value)) complaints.add(field, "line ends and other control characters are not allowed");
    else if (value.length > TEXT_MAX) complaints.add(field, `has more than ${TEXT_MAX} characters`);
  }
}

function checkProfile(name: string | undefined, checks: SubmissionChecks, complaints: Complaints): Profile | null {
  if (name === undefined) return complaints.add("profile", "is required: the collection's profile");
  const found = checks.profileOf(name);
  return found.ok ? found.profile : complaints.add("profile", found.problem);
}

function checkDigest({ digest_type, digest_value }: SubmissionRequest, complaints: Complaints) {
  if (digest_type === undefined && digest_value === undefined) return null;
  if (digest_type === undefined) return complaints.add("digest_type", "is required with a digest value");
  if (digest_value === undefined) return complaints.add("digest_value", "is required with a digest type");
  const digest = parseDigest(digest_type, digest_value);
  if (digest.ok) return digest.value;
  for (const { code, message, expected } of digest.problems) {
    const field = code === "DIGEST_VALUE_MALFORMED" ? "digest_value" : "digest_type";
    complaints.add(field, expected === undefined ? message : `${message} (expected ${expected})`);
  }
  return null;
}

function checkPrimaryId(given: string | undefined, complaints: Complaints): string | null {
  if (given === undefined) return null;
  const ark = parseObjectArk(given.trim());
  return ark.ok ? printArk(ark.value) : complaints.add("primary_id", ark.problems.map(describeProblem).join("; "));
}

function checkNotification(
  given: string | undefined,
  profile: Profile | null,
  depositor: string | null,
  complaints: Complaints,
): string | null {
  if (given === undefined) return null;
  const addresses = parseMailAddresses(given);
  if (addresses === null) return complaints.add("notification", "expected mail addresses");
  const strange = profile === null ? [] : addresses.filter((address) => !mayBeTold(address, depositor, profile));
  if (strange.length === 0) return addresses.join(",");
  const remedy =
    "leave it out, give your own or one of the profile's, or have the profile allow it (NotificationAllow.N)";
  return complaints.add("notification", `${strange.join(", ")} may not be told of this profile's deposits: ${remedy}`);
}
