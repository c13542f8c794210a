/** Who asks: every request behind this has a caller, or was answered with 401, 403, 429 or 503. */
import type { Authentication, Authenticator, Caller, Permission } from "@sluice/access";
import { may } from "@sluice/access";
import type { Request, RequestHandler, Response } from "express";

import { named } from "../named.ts";
import { type Problem, problem } from "../problem.ts";
import { type Guesses, makeGuesses } from "./guesses.ts";
import { isProvedOwnPage } from "./own-pages.ts";
import { turnAway } from "./turn-away.ts";

/** What a browser has after its login: its cookie names it, its credentials stay with us. */
export interface BrowserSession {
  /** As an Authorization header would have them. */
  readonly credentials: string;
  /** Asked again while an answer goes on; does not count as use. */
  isOpen(): boolean;
  end(): void;
}

export interface BrowserSessions {
  /** undefined: the request has no cookie of ours; null: its session has ended. Counts as use. */
  find(request: Request): BrowserSession | null | undefined;
}

export interface CallersOptions {
  readonly authenticator: Authenticator;
  /** Of browsers; absent = only the header counts. */
  readonly sessions?: BrowserSessions;
  /** Shared with other ways in. */
  readonly guesses?: Guesses;
  /** For log and metrics: the caller learns less. */
  readonly onRefused?: (why: string, request: Request) => void;
}

const CALLER = "caller";
const CREDENTIALS = "credentials";
const STILL = "still";
/** How long an answer goes on for a caller about whom nobody can be asked. */
const UNCHECKED_MAX_MS = 300_000;

const ENDED: Authentication = { kind: "refused", why: "your session has ended: log in again" };

export function callers({ authenticator, sessions, guesses, onRefused }: CallersOptions): RequestHandler {
  const counted = guesses ?? makeGuesses();
  return named("callers", async (request, response, next) => {
    const header = request.get("authorization");
    const session = header === undefined ? sessions?.find(request) : undefined;
    if (session !== undefined && !isProvedOwnPage(request)) {
      turnAway(request, response, problem("FORBIDDEN", "pages of other sites may not ask in your name"));
      return;
    }
    const credentials = session?.credentials ?? header;
    const found = session === null ? ENDED : await authenticator.authenticate(credentials);
    if (found.kind === "caller") {
      response.locals[CALLER] = found.caller;
      response.locals[CREDENTIALS] = credentials;
      response.locals[STILL] = stillCheck(found.caller, () =>
        session?.isOpen() === false ? Promise.resolve(ENDED) : authenticator.authenticate(credentials),
      );
      next();
      return;
    }
    // The token's end is the end of what was begun with it.
    if (found.kind === "refused") session?.end();
    if (found.kind === "refused") onRefused?.(found.why, request);
    // Who comes with a session that has ended guesses at nothing.
    const isGuess = found.kind === "refused" && session === undefined;
    turnAway(request, response, (isGuess ? tooMany(counted, request, found) : null) ?? problemOf(found));
  });
}

/** Null: they have not guessed too often yet. */
export function tooMany(
  guesses: Guesses,
  request: Request,
  found: Extract<Authentication, { kind: "refused" }>,
): Problem | null {
  const retryAfterSeconds = guesses.note({ address: request.ip ?? "", tokenId: found.tokenId });
  if (retryAfterSeconds === null) return null;
  const detail = `too many requests without a valid token: ${guesses.perMinute} a minute is the limit`;
  return problem("TOO_MANY_REQUESTS", detail, { retryAfterSeconds });
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

/** What the caller showed, as an Authorization header: to ask another service of ours in their name. */
export function credentialsOf(response: Response): string | undefined {
  const credentials: unknown = response.locals[CREDENTIALS];
  return typeof credentials === "string" ? credentials : undefined;
}

/** null: anybody may ask here. */
export function knownCaller(response: Response): Caller | null {
  const caller: unknown = response.locals[CALLER];
  return typeof caller === "object" ? (caller as Caller | null) : null;
}

/** Asks again whether the caller is who they were: for what goes on for long, or is carried out later. */
export async function isStillCaller(response: Response): Promise<boolean> {
  const still: unknown = response.locals[STILL];
  return typeof still !== "function" || (await (still as () => Promise<boolean>)());
}

/**
 * Other rights count from the next request on: whoever listens comes back, and makes it. A caller about whom nobody can be
 * asked is taken for the same, for a bounded time.
 */
export function stillCheck(caller: Caller, ask: () => Promise<Authentication>): () => Promise<boolean> {
  let checkedMs = performance.now();
  return async () => {
    const now = await ask();
    if (now.kind === "silence") return performance.now() - checkedMs < UNCHECKED_MAX_MS;
    checkedMs = performance.now();
    return now.kind === "caller" && rightsOf(now.caller) === rightsOf(caller);
  };
}

const rightsOf = ({ id, role, scope, tenants, stages = [] }: Caller): string =>
  JSON.stringify([id, role, scope, tenants, stages]);

/** Lets pass whose role has the permission, or the other one. */
export const allow =
  (permission: Permission, other: Permission = permission): RequestHandler =>
  (request, response, next) => {
    const caller = callerOf(response);
    const allowed = may(caller, permission);
    if (allowed.ok || may(caller, other).ok) next();
    else turnAway(request, response, problem("FORBIDDEN", allowed.why));
  };
