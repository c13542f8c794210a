/** Who asks: every request behind this has a caller, or was answered with 401, 403 or 503. */
import type { Authentication, Authenticator, Caller, Permission } from "@sluice/access";
import { may } from "@sluice/access";
import type { Request, RequestHandler, Response } from "express";

import { type Problem, problem } from "../problem.ts";
import { sendProblem } from "../reply.ts";

export interface CallersOptions {
  readonly authenticator: Authenticator;
  /** Of the cookie that a browser has after its login; absent = only the header counts. */
  readonly cookie?: string;
  /** For log and metrics: the caller learns less. */
  readonly onRefused?: (why: string, request: Request) => void;
}

const CALLER = "caller";
const STILL = "still";

export function callers({ authenticator, cookie, onRefused }: CallersOptions): RequestHandler {
  return async (request, response, next) => {
    const header = request.get("authorization");
    const fromCookie = header === undefined && cookie !== undefined ? cookieOf(request, cookie) : undefined;
    if (fromCookie !== undefined && !isOwnPage(request)) {
      turnAway(request, response, problem("FORBIDDEN", "pages of other sites may not ask in your name"));
      return;
    }
    const credentials = fromCookie === undefined ? header : `Bearer ${fromCookie}`;
    const found = await authenticator.authenticate(credentials);
    if (found.kind === "caller") {
      response.locals[CALLER] = found.caller;
      response.locals[STILL] = async () => isStill(found.caller, await authenticator.authenticate(credentials));
      next();
      return;
    }
    if (found.kind === "refused") onRefused?.(found.why, request);
    turnAway(request, response, problemOf(found));
  };
}

/** RFC 6750: a 401 says how to ask. Whoever is still sending is told not to: the connection ends with this answer. */
export function turnAway(request: Request, response: Response, found: Problem): void {
  if (found.code === "UNAUTHENTICATED") response.set("WWW-Authenticate", 'Bearer realm="sluice"');
  const hasBody = request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) > 0;
  if (hasBody && !request.complete) response.set("Connection", "close");
  sendProblem(response, found);
}

function problemOf(found: Exclude<Authentication, { kind: "caller" }>): Problem {
  switch (found.kind) {
    case "anonymous":
      return problem("UNAUTHENTICATED", "send `Authorization: Bearer TOKEN`; `sluice token` makes one");
    case "refused":
      return problem("UNAUTHENTICATED", found.why);
    case "silence":
      return problem("UNAVAILABLE", "who you are cannot be checked at the moment", { retryAfterSeconds: 5 });
  }
}

/** A cookie is sent whoever asks for it: only our own pages may use it. Browsers say where a request comes from. */
function isOwnPage(request: Request): boolean {
  if (request.method === "GET" || request.method === "HEAD")
    return (request.get("sec-fetch-site") ?? "none") !== "cross-site";
  const site = request.get("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = request.get("origin");
  return origin !== undefined && URL.canParse(origin) && new URL(origin).host === request.get("host");
}

export function cookieOf(request: Request, name: string): string | undefined {
  for (const part of (request.get("cookie") ?? "").split(";")) {
    const [key, ...value] = part.trim().split("=");
    if (key === name) return value.join("=");
  }
  return undefined;
}

/** Behind `callers` there always is one. */
export function callerOf(response: Response): Caller {
  const caller = knownCaller(response);
  if (caller === null) throw new Error("a route without authentication asked for its caller");
  return caller;
}

/** null: anybody may ask here. */
export function knownCaller(response: Response): Caller | null {
  const caller: unknown = response.locals[CALLER];
  return typeof caller === "object" ? (caller as Caller | null) : null;
}

/**
 * Asks anew whether the caller is who they were: for answers that go on for long. Whoever cannot be asked about just now is
 * taken for the same, as they would be at their next request.
 */
export async function isStillCaller(response: Response): Promise<boolean> {
  const still: unknown = response.locals[STILL];
  return typeof still !== "function" || (await (still as () => Promise<boolean>)());
}

/** Other rights count from the next request on: whoever listens comes back, and makes it. */
function isStill(caller: Caller, now: Authentication): boolean {
  if (now.kind === "silence") return true;
  return now.kind === "caller" && rightsOf(now.caller) === rightsOf(caller);
}

const rightsOf = ({ id, role, scope, tenants }: Caller): string => JSON.stringify([id, role, scope, tenants]);

/** Lets pass whose role has the permission. */
export const allow =
  (permission: Permission): RequestHandler =>
  (request, response, next) => {
    const allowed = may(callerOf(response), permission);
    if (allowed.ok) next();
    else turnAway(request, response, problem("FORBIDDEN", allowed.why));
  };
