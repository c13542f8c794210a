import type { RequestHandler } from "express";

import { callers, type CallersOptions } from "./callers.ts";
import { HTTP_DEFAULTS } from "../server/settings.ts";
import { holdBodies } from "./hold-bodies.ts";
import { limitCallers, limitGuesses } from "./limits.ts";

/** Whoever is refused more often in a minute from one address guesses. */
export const GUESSES_PER_MINUTE = 60;

export interface WallOptions extends CallersOptions {
  readonly callsPerMinute: number;
  /** Of bodies that the process holds at once; the setting's default unless given. */
  readonly bodyBytesPerCaller?: number;
}

/** What stands before every route that is not open to all, in this order. */
export const wall = ({ callsPerMinute, bodyBytesPerCaller, ...options }: WallOptions): readonly RequestHandler[] => [
  limitGuesses(GUESSES_PER_MINUTE),
  callers(options),
  limitCallers(callsPerMinute),
  holdBodies(bodyBytesPerCaller ?? HTTP_DEFAULTS.BODY_BYTES_PER_CALLER),
];
