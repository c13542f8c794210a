import { splitLines } from "./text.ts";

export interface Property {
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/** Java's property files: `key: value`, `key=value` or `key value`, `#` and `!` comments, `\` escapes and continuations. */
export function parseProperties(text: string): Property[] {
  return logicalLines(text).map(({ text: line, number }) => {
    const end = endOfKey(line);
    const value = line.slice(end).replace(/^[ \t\f]*[:=]?[ \t\f]*/, "");
    return { key: unescape(line.slice(0, end)), value: unescape(value).trim(), line: number };
  });
}

/** Joins continued lines; a comment is never continued. */
function logicalLines(text: string): { text: string; number: number }[] {
  const lines: { text: string; number: number; open: boolean }[] = [];
  splitLines(text).forEach((raw, index) => {
    const line = raw.replace(/^[ \t\f]+/, "");
    const open = endsWithOddBackslashes(line);
    const body = open ? line.slice(0, -1) : line;
    const last = lines.at(-1);
    if (last?.open === true) {
      last.text += body;
      last.open = open;
    } else if (line !== "" && !/^[#!]/.test(line)) lines.push({ text: body, number: index + 1, open });
  });
  return lines;
}

function endsWithOddBackslashes(line: string): boolean {
  let count = 0;
  while (count < line.length && line.charAt(line.length - 1 - count) === "\\") count += 1;
  return count % 2 === 1;
}

function endOfKey(line: string): number {
  for (let i = 0; i < line.length; i += 1) {
    if (line.charAt(i) === "\\") i += 1;
    else if (":= \t\f".includes(line.charAt(i))) return i;
  }
  return line.length;
}

const NAMED: Readonly<Record<string, string>> = { t: "\t", n: "\n", r: "\r", f: "\f" };

const unescape = (text: string): string =>
  text.replaceAll(/\\(?:u([0-9A-Fa-f]{4})|(.))/gs, (_match, code: string | undefined, character: string | undefined) =>
    code === undefined ? (NAMED[character ?? ""] ?? character ?? "") : String.fromCharCode(Number.parseInt(code, 16)),
  );
