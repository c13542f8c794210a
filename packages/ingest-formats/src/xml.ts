import { SaxesParser, type SaxesTagNS } from "saxes";
import { type Parsed, parsed, refused } from "./problem.ts";

/** An element, with the text that stands directly in it. */
export interface XmlElement {
  /** Local names from the root down: `resource/titles/title`. */
  readonly path: string;
  readonly name: string;
  /** Namespace URI; empty if there is none. */
  readonly namespace: string;
  /** By local name. */
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
}

/** Deeper is no description of anything, and each level costs. */
const MAX_DEPTH = 64;

/**
 * The elements of a small document in the order in which they end. Nothing is fetched and nothing is expanded: an
 * entity of the document's own is an error.
 */
export function readXml(text: string): Parsed<readonly XmlElement[]> {
  const parser = new SaxesParser({ xmlns: true, position: true });
  const elements: XmlElement[] = [];
  const open: { readonly tag: SaxesTagNS; text: string }[] = [];
  const append = (piece: string): void => {
    const last = open.at(-1);
    if (last !== undefined) last.text += piece;
  };
  parser.on("error", (error) => {
    throw error;
  });
  parser.on("opentag", (tag) => {
    open.push({ tag, text: "" });
    if (open.length > MAX_DEPTH) parser.fail(`more than ${MAX_DEPTH} elements inside each other.`);
  });
  parser.on("text", append);
  parser.on("cdata", append);
  parser.on("closetag", () => {
    const path = open.map(({ tag }) => tag.local).join("/");
    const last = open.pop();
    if (last !== undefined) elements.push(elementOf(last.tag, last.text, path));
  });
  try {
    parser.write(text.startsWith("\uFEFF") ? text.slice(1) : text).close();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return refused({ code: "XML_MALFORMED", message: `the text is no well-formed XML: ${message}`, line: parser.line });
  }
  return parsed(elements);
}

const elementOf = ({ local, uri, attributes }: SaxesTagNS, text: string, path: string): XmlElement => ({
  path,
  name: local,
  namespace: uri,
  attributes: Object.fromEntries(Object.values(attributes).map((attribute) => [attribute.local, attribute.value])),
  text: text.trim(),
});
