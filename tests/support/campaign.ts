/**
 * How large a campaign is. `npm test` runs a small one of each, the same every time; `npm run robustness` runs it whole,
 * with a seed of its own unless one is named.
 */
import { test } from "@jest/globals";

const IS_WHOLE = process.env["ROBUSTNESS"] === "whole";
const FIXED_SEED = 20_261_118;

export const sized = <T>(sizes: { readonly smoke: T; readonly whole: T }): T => (IS_WHOLE ? sizes.whole : sizes.smoke);

/** For what has no small form, and is shown in small by another test of the same file. */
export const onlyWhole = IS_WHOLE ? test : test.skip;

export const seed = Number(
  process.env["SLUICE_SEED"] ?? sized({ smoke: FIXED_SEED, whole: Math.trunc(performance.timeOrigin) }),
);
