import { type Parsed, parsed, refused } from "./problem.ts";
import { quote } from "./text.ts";

/** NOID's extended digits: no vowels, so no words; no `l`, which looks like 1. */
const EXTENDED_DIGITS = "0123456789bcdfghjkmnpqrstvwxz";

export interface NoidTemplate {
  readonly naan: string;
  readonly shoulder: string;
  /** `e` an extended digit, `d` a decimal digit; the check character is added behind. */
  readonly mask: string;
}

/**
 * The check character of a whole name, NAAN included (`99999/fk4xw4m06`): each character's ordinal times its position,
 * summed, modulo 29. It finds every single wrong character and every swap of two neighbours.
 */
export function noidCheckCharacter(name: string): string {
  let sum = 0;
  for (let i = 0; i < name.length; i += 1) {
    sum += Math.max(0, EXTENDED_DIGITS.indexOf(name.charAt(i))) * (i + 1);
  }
  return EXTENDED_DIGITS.charAt(sum % EXTENDED_DIGITS.length);
}

/** Takes a name with or without `ark:/`. */
export function hasValidCheckCharacter(name: string): boolean {
  const bare = name.replace(/^ark:\/?/, "");
  return bare.length > 1 && noidCheckCharacter(bare.slice(0, -1)) === bare.slice(-1);
}

const radixOf = (mark: string): number => (mark === "d" ? 10 : EXTENDED_DIGITS.length);

/** How many different names a mask has. */
export const noidCapacity = (mask: string): bigint =>
  Array.from(mask).reduce((product, mark) => product * BigInt(radixOf(mark)), 1n);

/** The `number`-th ARK of a template, check character included. Different numbers below the capacity, different ARKs. */
export function mintNoidArk(template: NoidTemplate, number: bigint): Parsed<string> {
  if (!/^[ed]+$/.test(template.mask)) {
    return refused({
      code: "NOID_MASK_MALFORMED",
      message: `${quote(template.mask)} is no mask`,
      expected: "a sequence of e and d",
    });
  }
  if (number < 0n || number >= noidCapacity(template.mask)) {
    return refused({
      code: "NOID_EXHAUSTED",
      message: `mask ${template.mask} has no name of number ${number.toString()}`,
      expected: `a number below ${noidCapacity(template.mask).toString()}`,
    });
  }
  const name = `${template.naan}/${template.shoulder}${blade(template.mask, number)}`;
  return parsed(`ark:/${name}${noidCheckCharacter(name)}`);
}

function blade(mask: string, number: bigint): string {
  let rest = number;
  let digits = "";
  for (const mark of Array.from(mask).reverse()) {
    const radix = BigInt(radixOf(mark));
    digits = EXTENDED_DIGITS.charAt(Number(rest % radix)) + digits;
    rest /= radix;
  }
  return digits;
}
