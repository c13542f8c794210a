import type { RequestHandler } from "express";

import { callers, type CallersOptions } from "./callers.ts";
import { limitCallers, limitGuesses } from "./limits.ts";

/** Whoever is refused more often in a minute from one address guesses. */
export const GUESSES_PER_MINUTE = 60;

export interface WallOptions extends CallersOptions {
  readonly callsPerMinute: number;
}

/** What stands before every route that is not open to all, in this order. */
export const wall = ({ callsPerMinute, ...options }: WallOptions): readonly RequestHandler[] => [
  limitGuesses(GUESSES_PER_MINUTE),
  callers(options),
  limitCallers(callsPerMinute),
];
