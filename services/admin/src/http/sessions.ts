/**
 * What a browser has after its login: a cookie with a random name, and nothing else. The token stays here, in memory, so that the
 * cookie is worth nothing as a token, and nothing at all once its session has ended: by logout, by being idle, by age, by the
 * token's end, or with this process.
 */
import { type BrowserSession, type BrowserSessions, cookieOf } from "@sluice/http-api";
import type { Request } from "express";
import { createHash } from "node:crypto";

export interface SessionsOptions {
  /** Without a request. */
  readonly idleMs: number;
  /** From its login on, however much it is used. */
  readonly maxMs: number;
  /** Browsers get a cookie for https only, whatever the request says. */
  readonly alwaysSecure: boolean;
  readonly monotonicMs: () => number;
  readonly randomBytes: (size: number) => Buffer;
}

interface Kept {
  readonly credentials: string;
  /** The caller's id. */
  readonly whose: string;
  readonly beganMs: number;
  usedMs: number;
}

export interface Sessions extends BrowserSessions {
  /** Ends the one that the browser had; answers with the header that gives it the new one. */
  begin(request: Request, credentials: string, whose: string): string;
  /** Answers with the header that takes the cookie away. */
  end(request: Request): string;
}

const ID_BYTES = 32;
/** Of one caller: whoever logs in more often loses the one that was idle longest. */
const OF_ONE_MAX = 20;
const ALL_MAX = 10_000;

export function makeSessions(options: SessionsOptions): Sessions {
  const { idleMs, maxMs, monotonicMs, randomBytes } = options;
  /** By the hash of what the cookie holds: what stands in memory opens nothing. */
  const kept = new Map<string, Kept>();
  const isOpen = (key: string): boolean => {
    const session = kept.get(key);
    if (session === undefined) return false;
    const nowMs = monotonicMs();
    if (nowMs - session.usedMs < idleMs && nowMs - session.beganMs < maxMs) return true;
    kept.delete(key);
    return false;
  };
  const idlest = (among: (session: Kept) => boolean): string | undefined =>
    [...kept].filter(([, session]) => among(session)).sort(([, a], [, b]) => a.usedMs - b.usedMs)[0]?.[0];
  const makeRoom = (whose: string): void => {
    for (const key of kept.keys()) isOpen(key);
    const own = (session: Kept): boolean => session.whose === whose;
    const dropped =
      [...kept.values()].filter(own).length >= OF_ONE_MAX
        ? idlest(own)
        : kept.size >= ALL_MAX
          ? idlest(() => true)
          : undefined;
    if (dropped !== undefined) kept.delete(dropped);
  };
  const drop = (key: string): void => {
    kept.delete(key);
  };
  const keyIn = (request: Request): string | undefined => {
    const value = cookieOf(request, cookieName(options, request));
    return value === undefined || value === "" ? undefined : hashOf(value);
  };
  return {
    find(request): BrowserSession | null | undefined {
      const key = keyIn(request);
      if (key === undefined) return undefined;
      const session = isOpen(key) ? kept.get(key) : undefined;
      if (session === undefined) return null;
      session.usedMs = monotonicMs();
      return { credentials: session.credentials, isOpen: () => isOpen(key), end: () => drop(key) };
    },
    begin(request, credentials, whose) {
      kept.delete(keyIn(request) ?? "");
      makeRoom(whose);
      const id = randomBytes(ID_BYTES).toString("base64url");
      const nowMs = monotonicMs();
      kept.set(hashOf(id), { credentials, whose, beganMs: nowMs, usedMs: nowMs });
      return cookie(options, request, id);
    },
    end(request) {
      kept.delete(keyIn(request) ?? "");
      return `${cookie(options, request, "")}; Max-Age=0`;
    },
  };
}

const hashOf = (id: string): string => createHash("sha256").update(id).digest("base64url");

type Secured = Pick<SessionsOptions, "alwaysSecure">;

const isSecure = ({ alwaysSecure }: Secured, request: Request): boolean => alwaysSecure || request.secure;

/** `__Host-`: browsers take it over https only, for this host alone, so that no other page or host can set it. */
const cookieName = (options: Secured, request: Request): string =>
  isSecure(options, request) ? "__Host-sluice" : "sluice";

/** Until the browser is closed, or the session ends. */
const cookie = (options: Secured, request: Request, value: string): string =>
  `${cookieName(options, request)}=${value}; Path=/; HttpOnly; SameSite=Strict${isSecure(options, request) ? "; Secure" : ""}`;
