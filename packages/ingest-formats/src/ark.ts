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
const ARK = /^ark:\/?([0-9a-z]{1,16})\/([0-9A-Za-z=~*+@_$%-]{1,128})((?:[/.][0-9A-Za-z=~*+@_$%./-]*)?)$/;

export function parseArk(text: string): Parsed<Ark> {
  const [, naan, name, qualifier] = ARK.exec(text) ?? [];
  if (naan === undefined || name === undefined || qualifier === undefined || text.length > 255) {
    return refused({ code: "ARK_MALFORMED", message: `${quote(text)} is no ARK`, expected: "ark:/NAAN/Name" });
  }
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
