import { type FormatProblem, type Parsed, parsed } from "./problem.ts";
import { quote, splitLines } from "./text.ts";

export interface AnvlElement {
  readonly label: string;
  readonly value: string;
}

/** What Merritt writes for a value that was never assigned. */
export const UNASSIGNED = "(:unas)";

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

/** Only what would break a line or be taken for an escape is escaped: `100 % wool` stays readable. */
const mustEscape = /[\u0000-\u001F\u007F]|%(?=[01][0-9A-Fa-f]|7[Ff]|25|3[Aa])/g;
const escaped = /%([01][0-9A-Fa-f]|7[Ff]|25|3[Aa])/g;

const escape = (text: string): string => text.replaceAll(mustEscape, hex);
const escapeLabel = (text: string): string => escape(text).replaceAll(":", "%3A");
const unescape = (text: string): string =>
  text.replaceAll(escaped, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));

/** `label:` TAB `value`, one element a line; white space around values is not kept. */
export function printAnvl(elements: readonly AnvlElement[], separator = "\t"): string {
  return elements.map(({ label, value }) => `${escapeLabel(label)}:${separator}${escape(value.trim())}\n`).join("");
}

/** Reads one record: comments (`#`) and blank lines skipped, lines that begin with white space continue the value. */
export function parseAnvl(text: string): Parsed<AnvlElement[]> {
  const raw: { label: string; value: string }[] = [];
  const problems: FormatProblem[] = [];
  splitLines(text).forEach((line, index) => {
    if (line.trim() === "" || line.startsWith("#")) return;
    const last = raw.at(-1);
    if (/^\s/.test(line) && last !== undefined) {
      last.value = `${last.value} ${line.trim()}`;
      return;
    }
    const colon = line.indexOf(":");
    if (colon > 0) raw.push({ label: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() });
    else problems.push(noColon(line, index + 1));
  });
  if (problems.length > 0) return { ok: false, problems };
  return parsed(raw.map(({ label, value }) => ({ label: unescape(label), value: unescape(value) })));
}

const noColon = (line: string, number: number): FormatProblem => ({
  code: "ANVL_LINE_MALFORMED",
  message: `${quote(line)} has no label`,
  line: number,
  expected: "label: value",
});
