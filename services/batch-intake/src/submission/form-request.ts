import { DUBLIN_CORE_ELEMENTS, type DublinCoreElement } from "@sluice/ingest-formats";
import { present } from "./json-request.ts";
import type { FieldNames, RequestedPayload, SubmissionRequest } from "./request.ts";

/** The names of Merritt's form. */
export const FORM_NAMES: FieldNames = {
  profile: "profile",
  submitter: "submitter",
  payload_url: "file",
  payload_name: "filename",
  payload_size: "size",
  type: "type",
  digest_type: "digestType",
  digest_value: "digestValue",
  title: "title",
  creator: "creator",
  date: "date",
  primary_id: "primaryIdentifier",
  local_id: "localIdentifier",
  notification: "notification",
  notification_format: "notificationFormat",
  note: "note",
  response_form: "responseForm",
  retain_target_url: "retainTargetURL",
  resource_type: "DataCite.resourceType",
  dublin_core: "DC.*",
  erc: "erc",
};

/** An older name of primaryIdentifier. */
const OBJECT = "object";
const dublinCoreName = (element: DublinCoreElement): string => `DC.${element}`;
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.values(FORM_NAMES),
  OBJECT,
  ...DUBLIN_CORE_ELEMENTS.map(dublinCoreName),
]);

/** Merritt takes a form with fields that it does not know, and says so in its log. */
export const unknownFields = (form: ReadonlyMap<string, string>): readonly string[] =>
  [...form.keys()].filter((name) => !KNOWN.has(name));

export function requestOfForm(form: ReadonlyMap<string, string>, payload: RequestedPayload): SubmissionRequest {
  const get = (name: keyof typeof FORM_NAMES): string | undefined => form.get(FORM_NAMES[name])?.trim();
  const localId = get("local_id");
  const dublinCore = DUBLIN_CORE_ELEMENTS.map((element) => [element, form.get(dublinCoreName(element))?.trim()]);
  return {
    ...present({
      profile: get("profile"),
      submitter: get("submitter"),
      type: get("type"),
      digest_type: get("digest_type"),
      digest_value: get("digest_value"),
      title: get("title"),
      creator: get("creator"),
      date: get("date"),
      primary_id: get("primary_id") ?? form.get(OBJECT)?.trim(),
      notification: get("notification"),
      notification_format: get("notification_format"),
      note: get("note"),
      response_form: get("response_form"),
      retain_target_url: get("retain_target_url"),
      resource_type: get("resource_type"),
      erc: get("erc"),
    }),
    payload,
    ...(localId === undefined || localId === "" ? {} : { local_id: [localId] }),
    dublin_core: present(Object.fromEntries(dublinCore) as Record<DublinCoreElement, string | undefined>),
  };
}
