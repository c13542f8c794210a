/** Merritt's answer to a submission, bat:batchState. Pure. */
import type { Profile } from "@sluice/ingest-formats";
import { type Element, element, optional, printState, type ResponseForm, vocabulary } from "./merritt/elements.ts";

export interface QueuedBatch {
  /** `bid-` + UUID. */
  readonly batchId: string;
  readonly update: boolean;
  readonly submitter: string;
  readonly submittedAtMs: number;
  readonly profile: Profile;
}

const BATCH = vocabulary("bat", "batch");

export const printBatchState = (batch: QueuedBatch, form: ResponseForm): string =>
  printState(batchState(batch), form, BATCH);

function batchState({ batchId, update, submitter, submittedAtMs, profile }: QueuedBatch): Element {
  return element("batchState", [
    element("batchID", batchId),
    element("updateFlag", update),
    element("batchStatus", "QUEUED"),
    element("userAgent", submitter),
    element("submissionDate", rfc3339(submittedAtMs)),
    element("batchProfile", profileElements(profile)),
    element("jobStates", []),
  ]);
}

export function profileElements(profile: Profile): readonly Element[] {
  return [
    element("profileID", profile.profileId),
    element("profileDescription", profile.description),
    element("owner", profile.owner),
    element("objectType", profile.objectType),
    element("objectRole", profile.objectRole),
    element("aggregateType", profile.aggregateType ?? ""),
    element("identifierScheme", profile.identifierScheme),
    ...optional("identifierNamespace", profile.identifierNamespace),
    element(
      "collection",
      profile.collections.map((ark) => element("collection", ark)),
    ),
    element(
      "contactsEmail",
      profile.notificationTo.map((address) => element("notification", [element("contactEmail", address)])),
    ),
    ...optional("creationDate", profile.creationDate),
    ...optional("modificationDate", profile.modificationDate),
  ];
}

const rfc3339 = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
