/**
 * JSON cut into the texts of its members, and put together from them. To read and print it instead would change numbers that
 * JavaScript cannot hold: ids of 63 bits are common in jobs' data. All texts here have been found to be JSON before.
 */
import { parseJson } from "./records.ts";

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const OPENING = new Set([0x5b, 0x7b]);
const CLOSING = new Set([0x5d, 0x7d]);

export const isObjectText = (text: string): boolean => text.trimStart().startsWith("{");

/** Of an array: its items; of an object: its members, `"key": value`. */
function partsOf(text: string): readonly string[] {
  const inner = text.trim();
  const parts: string[] = [];
  let [depth, from] = [0, 1];
  for (let at = 1; at < inner.length - 1; at++) {
    const char = inner.charCodeAt(at);
    if (char === QUOTE) at = endOfText(inner, at);
    else if (OPENING.has(char)) depth += 1;
    else if (CLOSING.has(char)) depth -= 1;
    else if (char === COMMA && depth === 0) {
      parts.push(inner.slice(from, at).trim());
      from = at + 1;
    }
  }
  const last = inner.slice(from, -1).trim();
  return last === "" ? parts : [...parts, last];
}

/** Of the text that begins at `start`: where its closing quote is. */
function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

export const itemsOf = partsOf;

/** Of a key that comes twice the last value counts, as for every reader of JSON. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  for (const part of partsOf(text)) {
    const end = endOfText(part, 0) + 1;
    members.set(JSON.parse(part.slice(0, end)) as string, part.slice(part.indexOf(":", end) + 1).trim());
  }
  return members;
}

/** Of an object: what is no text becomes one, what has members of its own stays as it was written, null is not given. */
export const fieldsOf = (text: string): readonly (readonly [string, string])[] =>
  [...membersOf(text)].flatMap(([name, value]) => (value === "null" ? [] : [[name, fieldOf(value)] as const]));

function fieldOf(value: string): string {
  if (value.startsWith("{") || value.startsWith("[")) return value;
  const read: unknown = JSON.parse(value);
  return typeof read === "string" ? read : JSON.stringify(read);
}

export const printMembers = (members: ReadonlyMap<string, string>): string =>
  `{${[...members].map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(",")}}`;

/** RFC 7396: objects are merged, null deletes, all else replaces. */
export function mergedText(target: string | undefined, patch: string): string {
  if (!isObjectText(patch)) return patch;
  const merged = new Map(target !== undefined && isObjectText(target) ? membersOf(target) : []);
  for (const [key, value] of membersOf(patch)) {
    if (value === "null") merged.delete(key);
    else merged.set(key, mergedText(merged.get(key), value));
  }
  return printMembers(merged);
}

/** Whether two texts mean the same, with numbers that JavaScript would take for the same told apart. */
export const isSameJson = (a: string, b: string): boolean =>
  JSON.stringify(parseJson(a)) === JSON.stringify(parseJson(b)) && sameNumbers(numbersIn(a), numbersIn(b));

const numbersIn = (text: string): readonly string[] =>
  text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').match(/-?\d[\d.eE+-]*/g) ?? [];

/** So many digits every number holds. */
const EXACT_DIGITS = 15;

function isHeld(number: string): boolean {
  const value = Number(number);
  const isLost = !Number.isFinite(value) || (value === 0 && /[1-9]/.test(number.split(/e/i)[0] ?? ""));
  return String(value) === number || (number.length <= EXACT_DIGITS && !isLost);
}

/** A reader that makes a JavaScript number of each would change one. */
export const hasLargeNumbers = (text: string): boolean => numbersIn(text).some((number) => !isHeld(number));

const sameNumbers = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, at) => text === b[at] || (isHeld(text) && isHeld(b[at] ?? "")));
