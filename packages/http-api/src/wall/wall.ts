import type { RequestHandler } from "express";

import { callers, type CallersOptions } from "./callers.ts";
import { limitCallers } from "./limits.ts";
import { type AnsweredHosts, ownPagesOnly } from "./own-pages.ts";

export interface WallOptions extends CallersOptions {
  readonly callsPerMinute: number;
  readonly hosts: AnsweredHosts;
}

/** What stands before every route that is not open to all, in this order. */
export const wall = ({ callsPerMinute, hosts, ...options }: WallOptions): readonly RequestHandler[] => [
  ownPagesOnly(hosts),
  callers(options),
  limitCallers(callsPerMinute),
];

/** `AUTH=off` lets anybody do everything who can reach this machine's own address. */
export const hostsAnswered = ({ AUTH }: { readonly AUTH: "on" | "off" }): AnsweredHosts =>
  AUTH === "off" ? "this-machine" : "any";
