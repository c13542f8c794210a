import { type Parsed, parsed, refused } from "./problem.ts";
import { quote } from "./text.ts";

export interface Ark {
  readonly naan: string;
  /** Assigned name: shoulder and blade. */
  readonly name: string;
  /** What follows the name, with its leading `/` or `.`; usually empty. */
  readonly qualifier: string;
}

/** Both `ark:/12345/…` and the newer `ark:12345/…`. The alphabet is that of the ARK specification, plus `%`-escapes. */
const ARK = /^[Aa][Rr][Kk]:\/?([0-9A-Za-z]{1,16})\/([0-9A-Za-z=~*+@_$%-]{1,128})((?:[/.][0-9A-Za-z=~*+@_$%./-]*)?)$/;

export function parseArk(text: string): Parsed<Ark> {
  const [, naan, name, qualifier] = ARK.exec(text) ?? [];
  if (naan === undefined || name === undefined || qualifier === undefined || text.length > 255) {
    return refused({ code: "ARK_MALFORMED", message: `${quote(text)} is no ARK`, expected: "ark:/NAAN/Name" });
  }
  return parsed({ naan: naan.toLowerCase(), name, qualifier });
}

/**
 * The ARK of an object, in the one way in which objects are stored, locked and compared: hyphens mean nothing in an ARK, nor
 * does a slash behind it. What could be a second spelling of an object's ARK otherwise is refused.
 */
export function parseObjectArk(text: string): Parsed<Ark> {
  const ark = parseArk(text.replace(/(?<=[^/])\/$/, ""));
  if (!ark.ok) return ark;
  const { naan, qualifier } = ark.value;
  const name = ark.value.name.replaceAll("-", "");
  const no = (why: string): Parsed<Ark> =>
    refused({ code: "ARK_MALFORMED", message: `${quote(text)} ${why}`, expected: "ark:/NAAN/Name" });
  if (name === "") return no("is no ARK");
  if (qualifier !== "") return no("names a part of an object, not an object: leave out what follows the name");
  if (name.includes("%")) return no("has an escape (%): write the character itself, or leave it out");
  return parsed({ naan, name, qualifier });
}

/** The form that Merritt stores: with the slash after `ark:`. */
export const printArk = (ark: Ark): string => `ark:/${ark.naan}/${ark.name}${ark.qualifier}`;

export const isArk = (text: string): boolean => parseArk(text).ok;

/**
 * An ARK as one component of a path: every `/`, with the colon before it, becomes `_` (`ark_99999_fk4555`).
 * It is the encoding of CDL's libraries under /locks, and it cannot be undone: names may contain `_`.
 */
export const arkLockName = (ark: string): string => ark.replaceAll(/:?\//g, "_");
