import { isUnassigned } from "./erc.ts";
import { type Parsed, parsed } from "./problem.ts";
import { readXml } from "./xml.ts";

/** The fifteen elements, in the order of Merritt's form. */
export const DUBLIN_CORE_ELEMENTS = [
  "contributor",
  "coverage",
  "creator",
  "date",
  "description",
  "format",
  "identifier",
  "language",
  "publisher",
  "relation",
  "rights",
  "source",
  "subject",
  "title",
  "type",
] as const;

export type DublinCoreElement = (typeof DUBLIN_CORE_ELEMENTS)[number];

export type DublinCore = Readonly<Partial<Record<DublinCoreElement, string>>>;

/** Elements whose value is a list, separated by semicolons. */
const REPEATABLE: ReadonlySet<DublinCoreElement> = new Set(["subject", "creator", "relation", "identifier"] as const);

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Escapes markup and drops what XML 1.0 cannot carry at all: control characters, lone surrogates, U+FFFE and U+FFFF. */
export function escapeXml(text: string): string {
  return text
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "")
    .replaceAll(/\p{Surrogate}/gu, "")
    .replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** mrt-dc.xml. Empty elements are left out. */
export function printDublinCore(elements: DublinCore): string {
  const lines = DUBLIN_CORE_ELEMENTS.flatMap((name) =>
    valuesOf(name, elements[name] ?? "").map((value) => `        <dc:${name}>${escapeXml(value)}</dc:${name}>`),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<DublinCore xmlns:dc="http://purl.org/dc/elements/1.1/">',
    ...lines,
    "</DublinCore>",
    "",
  ].join("\n");
}

const valuesOf = (name: DublinCoreElement, text: string): string[] =>
  (REPEATABLE.has(name) ? text.split(";") : [text]).map((value) => value.trim()).filter((value) => value !== "");

const NAMESPACES: ReadonlySet<string> = new Set(["", "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/"]);

/** A producer's mrt-dc.xml, whatever its root is. Repeated elements are joined by `; `. */
export function parseDublinCore(text: string): Parsed<DublinCore> {
  const xml = readXml(text);
  if (!xml.ok) return xml;
  const found: Partial<Record<DublinCoreElement, string>> = {};
  for (const { name, namespace, text: value } of xml.value) {
    const element = DUBLIN_CORE_ELEMENTS.find((known) => known === name);
    if (element === undefined || !NAMESPACES.has(namespace) || isUnassigned(value)) continue;
    const before = found[element];
    found[element] = before === undefined ? value : `${before}; ${value}`;
  }
  return parsed(found);
}

/** Values of the second are added to those of the first, unless they are there. */
export function mergeDublinCore(first: DublinCore, second: DublinCore): DublinCore {
  const merged: Partial<Record<DublinCoreElement, string>> = { ...first };
  for (const element of DUBLIN_CORE_ELEMENTS) {
    const [here, there] = [first[element], second[element]];
    if (there === undefined || here?.includes(there) === true) continue;
    merged[element] = here === undefined ? there : `${here}; ${there}`;
  }
  return merged;
}
