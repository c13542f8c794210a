/** Merritt's states: trees of named elements, in the forms that its clients read. Pure. */
import { escapeXml, printAnvl } from "@sluice/ingest-formats";
import type { Request } from "express";

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

/** What is asked for by name counts, then what the client accepts, then XML. null = a form that we do not speak. */
export function responseFormOf(request: Request, given: string, otherwise: ResponseForm = "xml"): ResponseForm | null {
  if (given.trim() !== "") return parseResponseForm(given);
  const isAnything = (request.get("accept") ?? "*/*").trim() === "*/*";
  if (isAnything) return otherwise;
  const accepted = request.accepts(["application/xml", "text/xml", "application/json", "text/x-anvl", "text/anvl"]);
  if (accepted === "application/json") return "json";
  if (accepted === "text/x-anvl" || accepted === "text/anvl") return "anvl";
  return accepted === false ? otherwise : "xml";
}

type Leaf = string | boolean | number;
export type Element =
  { readonly name: string; readonly leaf: Leaf } | { readonly name: string; readonly children: readonly Element[] };

export const element = (name: string, value: Leaf | readonly Element[]): Element =>
  typeof value === "object" ? { name, children: value } : { name, leaf: value };
export const optional = (name: string, value: Leaf | undefined): readonly Element[] =>
  value === undefined ? [] : [element(name, value)];

export interface Vocabulary {
  readonly prefix: string;
  readonly namespace: string;
}

/** The vocabularies of Merritt's states. */
export const vocabulary = (prefix: string, name: string): Vocabulary => ({
  prefix,
  namespace: `http://uc3.cdlib.org/ontology/mrt/ingest/${name}`,
});

export function printState(root: Element, form: ResponseForm, { prefix, namespace }: Vocabulary): string {
  switch (form) {
    case "json":
      return `${JSON.stringify({ [`${prefix}:${root.name}`]: jsonOf(root, prefix) }, null, 1)}\n`;
    case "xml":
      return `<?xml version="1.0" encoding="UTF-8"?>\n${xmlOf(root, prefix, ` xmlns:${prefix}="${namespace}"`)}\n`;
    case "anvl":
      return printAnvl(leavesOf(root));
  }
}

/** Merritt's JSON was made from its XML: one item is an object, several are an array, none is an empty text. */
function jsonOf(of: Element, prefix: string): unknown {
  if ("leaf" in of) return of.leaf;
  if (of.children.length === 0) return "";
  const byName = new Map<string, unknown[]>();
  for (const child of of.children) {
    const name = `${prefix}:${child.name}`;
    byName.set(name, [...(byName.get(name) ?? []), jsonOf(child, prefix)]);
  }
  return Object.fromEntries([...byName].map(([name, values]) => [name, values.length === 1 ? values[0] : values]));
}

function xmlOf(of: Element, prefix: string, attributes = ""): string {
  const tag = `${prefix}:${of.name}`;
  const content = "leaf" in of ? escapeXml(String(of.leaf)) : of.children.map((child) => xmlOf(child, prefix)).join("");
  return content === "" ? `<${tag}${attributes}/>` : `<${tag}${attributes}>${content}</${tag}>`;
}

const leavesOf = (of: Element): { label: string; value: string }[] =>
  "leaf" in of ? [{ label: of.name, value: String(of.leaf) }] : of.children.flatMap(leavesOf);
