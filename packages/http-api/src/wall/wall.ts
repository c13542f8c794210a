import type { RequestHandler } from "express";

import { callers, type CallersOptions } from "./callers.ts";
import { HTTP_DEFAULTS } from "../server/settings.ts";
import { holdBodies } from "./hold-bodies.ts";
import { limitCallers } from "./limits.ts";
import { type AnsweredHosts, ownPagesOnly } from "./own-pages.ts";

export interface WallOptions extends CallersOptions {
  readonly callsPerMinute: number;
  readonly hosts: AnsweredHosts;
  /** Of bodies that the process holds at once; the setting's default unless given. */
  readonly bodyBytesPerCaller?: number;
}

/** What stands before every route that is not open to all, in this order. */
export const wall = ({
  callsPerMinute,
  bodyBytesPerCaller,
  hosts,
  ...options
}: WallOptions): readonly RequestHandler[] => [
  ownPagesOnly(hosts),
  callers(options),
  limitCallers(callsPerMinute),
  holdBodies(bodyBytesPerCaller ?? HTTP_DEFAULTS.BODY_BYTES_PER_CALLER),
];

/** `AUTH=off` lets anybody do everything who can reach this machine's own address. */
export const hostsAnswered = ({ AUTH }: { readonly AUTH: "on" | "off" }): AnsweredHosts =>
  AUTH === "off" ? "this-machine" : "any";
