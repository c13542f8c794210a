/** Merritt's answer to a submission, bat:batchState, in the forms that its clients read. Pure. */
import { escapeXml, printAnvl, type Profile } from "@sluice/ingest-formats";

export interface QueuedBatch {
  /** `bid-` + UUID. */
  readonly batchId: string;
  readonly update: boolean;
  readonly submitter: string;
  readonly submittedAtMs: number;
  readonly profile: Profile;
}

export const RESPONSE_FORMS = ["xml", "json", "anvl"] as const;
export type ResponseForm = (typeof RESPONSE_FORMS)[number];

export const CONTENT_TYPES: Readonly<Record<ResponseForm, string>> = {
  xml: "application/xml; charset=utf-8",
  json: "application/json; charset=utf-8",
  anvl: "text/x-anvl; charset=utf-8",
};

/** Merritt's other forms (rdf, xhtml, serial) were for its own pages. */
export function parseResponseForm(given: string): ResponseForm | null {
  const form = given.trim().toLowerCase();
  if (form === "json2") return "json";
  return RESPONSE_FORMS.find((known) => known === form) ?? null;
}

export function printBatchState(batch: QueuedBatch, form: ResponseForm): string {
  const root = batchState(batch);
  switch (form) {
    case "json":
      return `${JSON.stringify({ [qualified(root.name)]: jsonOf(root) }, null, 1)}\n`;
    case "xml":
      return `<?xml version="1.0" encoding="UTF-8"?>\n${xmlOf(root, ` xmlns:bat="${NAMESPACE}"`)}\n`;
    case "anvl":
      return printAnvl(leavesOf(root));
  }
}

const NAMESPACE = "http://uc3.cdlib.org/ontology/mrt/ingest/batch";
const qualified = (name: string): string => `bat:${name}`;

type Leaf = string | boolean;

type Element =
  { readonly name: string; readonly leaf: Leaf } | { readonly name: string; readonly children: readonly Element[] };

const element = (name: string, value: Leaf | readonly Element[]): Element =>
  typeof value === "object" ? { name, children: value } : { name, leaf: value };
const optional = (name: string, value: string | undefined): Element[] =>
  value === undefined ? [] : [element(name, value)];

function batchState({ batchId, update, submitter, submittedAtMs, profile }: QueuedBatch): Element {
  return element("batchState", [
    element("batchID", batchId),
    element("updateFlag", update),
    element("batchStatus", "QUEUED"),
    element("userAgent", submitter),
    element("submissionDate", rfc3339(submittedAtMs)),
    element("batchProfile", profileState(profile)),
    element("jobStates", []),
  ]);
}

function profileState(profile: Profile): readonly Element[] {
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

/** Merritt's JSON was made from its XML: one item is an object, several are an array, none is an empty text. */
function jsonOf(of: Element): unknown {
  if ("leaf" in of) return of.leaf;
  if (of.children.length === 0) return "";
  const byName = new Map<string, unknown[]>();
  for (const child of of.children) {
    const name = qualified(child.name);
    byName.set(name, [...(byName.get(name) ?? []), jsonOf(child)]);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

function xmlOf(of: Element, attributes = ""): string {
  const tag = qualified(of.name);
  const content = "leaf" in of ? escapeXml(String(of.leaf)) : of.children.map((child) => xmlOf(child)).join("");
  return content === "" ? `<${tag}${attributes}/>` : `<${tag}${attributes}>${content}</${tag}>`;
}

const leavesOf = (of: Element): { label: string; value: string }[] =>
  "leaf" in of ? [{ label: of.name, value: String(of.leaf) }] : of.children.flatMap(leavesOf);
