/** Which jobs a caller asks for: one name, which may be a pattern, or several names, which are taken literally. */
import { parseGlob, type Glob } from "./glob.ts";

export type NameMatch =
  | { readonly kind: "names"; readonly names: ReadonlySet<string> }
  | { readonly kind: "glob"; readonly pattern: string; readonly matches: Glob };

export function parseNames(raw: string): NameMatch {
  const names = raw
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const [only] = names;
  if (names.length === 1 && only !== undefined) {
    const matches = parseGlob(only);
    if (matches !== null) return { kind: "glob", pattern: only, matches };
  }
  return { kind: "names", names: new Set(names) };
}

/** What `parseNames` reads as the same: for those who send it elsewhere. */
export const namesText = (match: NameMatch): string =>
  match.kind === "glob" ? match.pattern : [...match.names].join(",");

export const matchesName = (match: NameMatch, name: string): boolean =>
  match.kind === "names" ? match.names.has(name) : match.matches(name);
