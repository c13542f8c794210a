/**
 * SQLite's GLOB: case-sensitive, the whole text, `*` any run, `?` one character, `[a-z]` and `[^a-z]` sets. Patterns come
 * from callers, so this is no regular expression: with a dozen stars one of those takes minutes, this takes the product
 * of the lengths.
 */

type Token = "run" | ((char: string) => boolean);

export type Glob = (text: string) => boolean;

/** Null for a pattern without wildcards: it is a name. */
export function parseGlob(pattern: string): Glob | null {
  if (!/[*?[]/.test(pattern)) return null;
  const tokens = tokensOf(Array.from(pattern));
  return tokens === null ? () => false : (text) => matches(tokens, Array.from(text));
}

/** Null for a set that is never closed: it matches nothing, whatever the rest says. */
function tokensOf(chars: readonly string[]): readonly Token[] | null {
  const tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i] ?? "";
    if (char === "[") {
      const set = readSet(chars, i);
      if (set === null) return null;
      tokens.push(set.has);
      i = set.end;
    } else if (char === "*") tokens.push("run");
    else tokens.push(char === "?" ? () => true : (other) => other === char);
  }
  return tokens;
}

/** Only the last run can be worth a second try: whatever an earlier one could take, the last one can take too. */
function matches(tokens: readonly Token[], chars: readonly string[]): boolean {
  let token = 0;
  let run = -1;
  let resumeAt = 0;
  for (let at = 0; at < chars.length;) {
    const now = tokens[token];
    if (now === "run") {
      run = token;
      resumeAt = at;
      token += 1;
    } else if (now?.(chars[at] ?? "") === true) {
      token += 1;
      at += 1;
    } else if (run >= 0) {
      token = run + 1;
      resumeAt += 1;
      at = resumeAt;
    } else return false;
  }
  return tokens.slice(token).every((rest) => rest === "run");
}

interface CharSet {
  readonly has: (char: string) => boolean;
  /** Where its "]" stands. */
  readonly end: number;
}

/** From "[" to its "]". A "]" that comes first is a member, and so is a "-" at either end. */
function readSet(chars: readonly string[], start: number): CharSet | null {
  let i = start + 1;
  const inverted = chars[i] === "^";
  if (inverted) i += 1;
  const ranges: (readonly [number, number])[] = [];
  if (chars[i] === "]") {
    ranges.push([code("]"), code("]")]);
    i += 1;
  }
  let previous: string | null = null;
  for (; i < chars.length && chars[i] !== "]"; i++) {
    const char = chars[i] ?? "";
    const next = chars[i + 1];
    if (char === "-" && next !== undefined && next !== "]" && previous !== null) {
      ranges.push([code(previous), code(next)]);
      previous = null;
      i += 1;
    } else {
      ranges.push([code(char), code(char)]);
      previous = char;
    }
  }
  if (i >= chars.length) return null;
  const has = (char: string): boolean =>
    ranges.some(([from, to]) => code(char) >= from && code(char) <= to) !== inverted;
  return { has, end: i };
}

const code = (char: string): number => char.codePointAt(0) ?? 0;
