/**
 * File names in storage manifests. The format has no escape of its own, and an archive must keep `a|b.txt` under its
 * name. So what a cell cannot carry is written as `%XX`: `|`, NUL, line ends, and white space at the edges. A per cent
 * sign is escaped only where it would be taken for one of these, so that nearly every name stands as it is.
 */
const ESCAPED = "7[Cc]|25|20|0[09A-Da-d]";
const decodable = new RegExp(`%(${ESCAPED})`, "g");
const mustEscape = new RegExp(`[|\\0\\n\\r]|^[\\t-\\r ]|[\\t-\\r ]$|%(?=${ESCAPED})`, "g");

const hex = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;

export const escapeFileName = (name: string): string => name.replaceAll(mustEscape, hex);

export const unescapeFileName = (cell: string): string =>
  cell.replaceAll(decodable, (_match, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
