/**
 * Makes a submission durable: when this answers "accepted" the batch stands in the queue, or the submission in the journal.
 * It goes to the journal when the queue does not answer, and behind whatever waits there: batches come to the queue in the
 * order in which they were accepted.
 */
import { randomBytes } from "node:crypto";
import { inScope } from "@sluice/access";
import { type DigestAlgorithm, parseDigestAlgorithm, type Profile } from "@sluice/ingest-formats";
import {
  type BatchId,
  type BatchPlace,
  type BatchUuid,
  batchUuidFromKey,
  batchUuidFromRandom,
  type CreateResult,
  formatTimestamp,
  type Submission,
} from "@sluice/queue-core";
import type { Outcome } from "@sluice/safe-io";
import type { Log } from "@sluice/stage-runtime";
import { currentTraceparent, newTraceparent } from "@sluice/tracing";
import type { Clock } from "@sluice/zookeeper";
import type { IntakeQueue, Reserved } from "../intake-queue.ts";
import type { Backlog, KeptUpload } from "../journal/backlog.ts";
import type { ProfileOf } from "../ports.ts";
import { bytesOf } from "../quota/in-progress.ts";
import type { OverQuota, Quotas } from "../quota/quotas.ts";
import { checkSubmission } from "./check-submission.ts";
import type { Depositor } from "./depositor.ts";
import type { FieldProblem } from "./field-problem.ts";
import { logAcceptance } from "./log-acceptance.ts";
import type { FieldNames, SubmissionRequest } from "./request.ts";
import { requestDigest } from "./request-digest.ts";

export type Acceptance =
  | {
      readonly kind: "accepted";
      /** null = it is in the journal, and gets its number when it comes to the queue. */
      readonly id: BatchId | null;
      readonly uuid: BatchUuid;
      readonly replayed: boolean;
      readonly profile: Profile;
      readonly submission: Submission;
    }
  /** The collection is not one of the depositor's. */
  | { readonly kind: "not-theirs"; readonly profile: string }
  | { readonly kind: "wrong-fields"; readonly problems: readonly FieldProblem[] }
  /** What came is not what the depositor's digest says. */
  | { readonly kind: "wrong-digest"; readonly detail: string }
  /** The caller used the same key for something else. */
  | { readonly kind: "key-reused"; readonly uuid: string }
  /** The working volume is full. */
  | { readonly kind: "no-room" }
  /** The collection has as much in progress as it may. */
  | OverQuota
  /** Not now: ask again. */
  | { readonly kind: "unavailable"; readonly why: string };

/** Uploads that wait to become a batch's folder. */
export interface WaitingUpload {
  /** Of each file. */
  readonly sha256: readonly string[];
  /** Of the first file, in lower case hexadecimal; null when it could not be computed. */
  readonly digestOf: (algorithm: DigestAlgorithm) => Promise<string | null>;
  readonly becomeBatch: (batch: BatchPlace) => Promise<Outcome<void>>;
  /** Keeps them for a submission in the journal. */
  readonly keep: () => Promise<KeptUpload>;
  /** It is its batch's already, and a journal will name it: nobody may remove it meanwhile. */
  readonly need: (batch: BatchPlace) => Promise<Outcome<void>>;
  /** The batch turned out to be there already, or was refused: its folder is of no use. */
  readonly drop: (batch: BatchPlace) => Promise<void>;
}

export interface AcceptRequest {
  readonly request: SubmissionRequest;
  readonly names: FieldNames;
  readonly depositor: Depositor;
  readonly key: string | null;
  readonly upload: WaitingUpload | null;
}

export interface AcceptPorts {
  readonly log: Log;
  readonly queue: IntakeQueue;
  readonly backlog: Pick<Backlog, "isEmpty" | "add">;
  readonly profileOf: ProfileOf;
  readonly quotas: Pick<Quotas, "refresh" | "refuses" | "add">;
  readonly clock: Clock;
}

export async function accept(ports: AcceptPorts, asked: AcceptRequest): Promise<Acceptance> {
  const answer = await tryToAccept(ports, asked);
  logAcceptance(ports.log, asked.depositor, answer);
  return answer;
}

async function tryToAccept(ports: AcceptPorts, asked: AcceptRequest): Promise<Acceptance> {
  const { request, names, depositor, key, upload } = asked;
  // Before anything is said about it: which profiles there are is not for everybody to know.
  const { profile: wanted } = request;
  if (wanted !== undefined && !inScope(depositor.scope, wanted)) return { kind: "not-theirs", profile: wanted };
  const checked = checkSubmission(request, {
    names,
    depositor,
    profileOf: ports.profileOf,
    submittedAt: formatTimestamp(ports.clock.nowMs()),
  });
  if (!checked.ok) return { kind: "wrong-fields", problems: checked.problems };
  const wrong = await wrongDigest(checked.value, upload);
  if (wrong !== null) return { kind: "wrong-digest", detail: wrong };
  const profile = ports.profileOf(checked.value.profile_name);
  if (!profile.ok) return { kind: "wrong-fields", problems: [{ field: names.profile, detail: profile.problem }] };

  const bytes = bytesOf(checked.value);
  await ports.quotas.refresh();
  const over = ports.quotas.refuses(profile.profile.profileId, bytes);
  if (over !== null) return over;

  const uuid = key === null ? batchUuidFromRandom(randomBytes(16)) : batchUuidFromKey(depositor.id, key);
  const submission = {
    ...checked.value,
    request_digest: requestDigest(checked.value, upload?.sha256.join() ?? null),
    traceparent: currentTraceparent() ?? newTraceparent(randomBytes),
  };
  const made = await makeDurable(ports, { uuid, submission, upload });
  if (made.kind === "created") ports.quotas.add(profile.profile.profileId, { batches: 1, jobs: 1, bytes });
  switch (made.kind) {
    case "created":
    case "replayed": {
      const replayed = made.kind === "replayed";
      return { kind: "accepted", id: made.id, uuid, replayed, profile: profile.profile, submission };
    }
    case "conflict":
      return { kind: "key-reused", uuid };
    case "refused":
      return { kind: "unavailable", why: "the queue did not take the batch" };
    case "full":
      return { kind: "unavailable", why: "the queue does not answer, and the journal is full" };
    case "failed":
      return { kind: "unavailable", why: "the queue does not answer, and the journal cannot be written" };
    case "no-room":
      return { kind: "no-room" };
  }
}

/** Uploads are checked while there is still somebody to tell; what is fetched later is checked then. */
async function wrongDigest(submission: Submission, upload: WaitingUpload | null): Promise<string | null> {
  const { digest_type: type, digest_value: expected } = submission;
  if (upload === null || type === undefined || expected === undefined) return null;
  const algorithm = parseDigestAlgorithm(type);
  const found = algorithm.ok ? await upload.digestOf(algorithm.value) : null;
  return found === expected ? null : `${type} of the file is ${found ?? "not known"}, not ${expected}`;
}

interface NewBatch {
  readonly uuid: BatchUuid;
  readonly submission: Submission;
  readonly upload: WaitingUpload | null;
}

type Made =
  | { readonly kind: "created" | "replayed"; readonly id: BatchId | null }
  | { readonly kind: "conflict" | "refused" | "full" | "failed" | "no-room" };

async function makeDurable({ queue, backlog }: AcceptPorts, batch: NewBatch): Promise<Made> {
  // What came before waits in the journal: nothing overtakes it.
  const created: Created = backlog.isEmpty ? await create(queue, batch) : LOST;
  if (created.kind !== "lost") return created;
  const added = await backlog.add({ ...batch, keepUpload: () => keepUpload(batch.upload, created.numbered) });
  switch (added.kind) {
    case "added":
      return { kind: "created", id: null };
    case "replayed":
      return { kind: "replayed", id: null };
    case "conflict":
    case "full":
    case "failed":
      return { kind: added.kind };
  }
}

const nothingToDiscard = (): Promise<void> => Promise.resolve();

async function keepUpload(upload: WaitingUpload | null, numbered: Lost["numbered"]): Promise<KeptUpload> {
  if (upload === null) return { ok: true, upload: null, discard: nothingToDiscard };
  if (numbered === null) return upload.keep();
  const needed = await upload.need(numbered);
  if (!needed.ok) return { ok: false, why: needed.error.message };
  // Its batch may be there: the folder stays where it is, whatever becomes of the record.
  const { batchId: batch, batchEpoch: epoch, fleet } = numbered;
  return { ok: true, upload: { kind: "numbered", batch, epoch, fleet }, discard: nothingToDiscard };
}

/** Nobody knows whether it was created. */
interface Lost {
  readonly kind: "lost";
  /** The number under which the uploads already are. */
  readonly numbered: Reserved | null;
}
const LOST: Lost = { kind: "lost", numbered: null };
type Created = Exclude<CreateResult, { kind: "lost" }> | { readonly kind: "no-room" } | Lost;

async function create(queue: AcceptPorts["queue"], { uuid, submission, upload }: NewBatch): Promise<Created> {
  if (upload === null) {
    const created = await queue.create({ uuid, submission });
    return created.kind === "lost" ? LOST : created;
  }
  const placed = await placeUpload(queue, upload);
  if (placed === null) return LOST;
  if (!placed.ok)
    return placed.error.code === "NO_SPACE" ? { kind: "no-room" } : { kind: "refused", detail: placed.error.message };
  const place = placed.value;
  const created = await queue.create({ uuid, submission, place });
  // After a lost answer the batch may be there: its folder stays.
  if (created.kind === "lost") return { kind: "lost", numbered: place };
  if (!(created.kind === "created" && created.id === place.batchId)) await upload.drop(place);
  return created;
}

/** Folders that others have left under numbers to come: each is passed over, none is touched. */
export const PLACES_TRIED = 100;

/** Null: ZooKeeper does not answer. */
async function placeUpload(
  queue: AcceptPorts["queue"],
  upload: Pick<WaitingUpload, "becomeBatch">,
): Promise<Outcome<Reserved> | null> {
  let taken: Outcome<Reserved> | null = null;
  for (let tries = 0; tries < PLACES_TRIED; tries += 1) {
    const place = await queue.reserve();
    if (place === null) return null;
    const moved = await upload.becomeBatch(place);
    if (moved.ok) return { ok: true, value: place };
    if (moved.error.code !== "ALREADY_THERE") return moved;
    taken = moved;
  }
  return taken;
}
