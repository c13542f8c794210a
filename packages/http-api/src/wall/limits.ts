/** How much one caller may ask: beyond it 429 with Retry-After. Counted per process; a fleet's limit is the ingress's. */
import type { Request, RequestHandler, Response } from "express";
import { ipKeyGenerator, rateLimit } from "express-rate-limit";

import { problem } from "../problem.ts";
import { callerOf, turnAway } from "./callers.ts";

const WINDOW_MS = 60_000;
const RETRY_MAX_SECONDS = WINDOW_MS / 1_000;

/** After `callers`: each caller has a count of their own, wherever they ask from. */
export const limitCallers = (perMinute: number): RequestHandler =>
  limiter(perMinute, (_request, response) => callerOf(response).id, "you ask too often");

/**
 * Before `callers`: whoever guesses at tokens is slowed down by the address they guess from. Counted when the answer is a
 * 401, never before: a hundred uploads at once from one address are no guesses.
 */
export function limitGuesses(perMinute: number): RequestHandler {
  let guesses = new Map<string, number>();
  let sinceMs = performance.now();
  return (request, response, next) => {
    const nowMs = performance.now();
    if (nowMs - sinceMs >= WINDOW_MS) [guesses, sinceMs] = [new Map<string, number>(), nowMs];
    const key = ipKeyGenerator(request.ip ?? "");
    if ((guesses.get(key) ?? 0) >= perMinute) {
      tooMany(
        request,
        response,
        perMinute,
        "too many requests without a valid token",
        (sinceMs + WINDOW_MS - nowMs) / 1_000,
      );
      return;
    }
    response.once("finish", () => {
      if (response.statusCode === 401) guesses.set(key, (guesses.get(key) ?? 0) + 1);
    });
    next();
  };
}

type Key = NonNullable<Parameters<typeof rateLimit>[0]>["keyGenerator"];

function limiter(perMinute: number, key: Key, why: string): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: perMinute,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    ...(key === undefined ? {} : { keyGenerator: key }),
    // Behind a proxy the address is the proxy's unless express is told to trust it: that is the operator's choice.
    validate: { xForwardedForHeader: false },
    handler: (request, response) => {
      const left = Number(response.getHeader("Retry-After") ?? RETRY_MAX_SECONDS);
      tooMany(request, response, perMinute, why, Number.isFinite(left) ? left : RETRY_MAX_SECONDS);
    },
  });
}

function tooMany(
  request: Request,
  response: Response,
  perMinute: number,
  why: string,
  retryAfterSeconds: number,
): void {
  const detail = `${why}: ${perMinute} a minute is the limit`;
  turnAway(request, response, problem("TOO_MANY_REQUESTS", detail, { retryAfterSeconds }));
}
