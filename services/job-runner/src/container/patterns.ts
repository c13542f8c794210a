/**
 * Patterns over names of files: `*.py`, `bin/*`, `*.dat` at any depth. Both come from tenants, so this is no regular
 * expression: with a dozen stars one of those takes minutes, and a runner that stands still loses everybody's jobs.
 */

/** `*` and `?` stay within a folder; `**` is anything; `**` and a slash are any number of folders, none among them. */
const TOKENS = /\*\*\/|\*\*|./gsu;

/** Before a token, or inside of a folder that it has begun: where in the pattern a name may have led so far. */
const before = (token: number): number => 2 * token;
const inFolder = (token: number): number => 2 * token + 1;

function matches(tokens: readonly string[], name: string): boolean {
  let places = withSkipped(tokens, [before(0)]);
  for (const char of name) {
    const next = [...places].flatMap((place) => ledTo(tokens, place, char) ?? []);
    places = withSkipped(tokens, next);
  }
  return places.has(before(tokens.length));
}

/** Null: nowhere. */
function ledTo(tokens: readonly string[], place: number, char: string): number | null {
  const token = Math.floor(place / 2);
  switch (tokens[token]) {
    case undefined:
      return null;
    case "**/":
      if (char !== "/") return inFolder(token);
      return place === inFolder(token) ? before(token) : null;
    case "**":
      return place;
    case "*":
      return char === "/" ? null : place;
    case "?":
      return char === "/" ? null : before(token + 1);
    default:
      return tokens[token] === char ? before(token + 1) : null;
  }
}

/** With the places behind those tokens that may stand for nothing. */
function withSkipped(tokens: readonly string[], places: readonly number[]): ReadonlySet<number> {
  const all = new Set<number>();
  for (const place of places) {
    let at = place;
    for (; !all.has(at); at += 2) {
      all.add(at);
      if (at % 2 === 1 || tokens[at / 2]?.startsWith("*") !== true) break;
    }
  }
  return all;
}

/** No patterns, or none in the list: everything. */
export function matcherOf(patterns: readonly string[] | undefined): (name: string) => boolean {
  if (patterns === undefined || patterns.length === 0) return () => true;
  const all = patterns.map((pattern) => pattern.match(TOKENS) ?? []);
  return (name) => all.some((tokens) => matches(tokens, name));
}
