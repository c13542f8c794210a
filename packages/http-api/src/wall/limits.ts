/** How much one caller may ask: beyond it 429 with Retry-After. Counted per process; a fleet's limit is the ingress's. */
import type { RequestHandler } from "express";
import { ipKeyGenerator, rateLimit } from "express-rate-limit";

import { problem } from "../problem.ts";
import { sendProblem } from "../reply.ts";
import { callerOf } from "./callers.ts";

const WINDOW_MS = 60_000;
const RETRY_MAX_SECONDS = WINDOW_MS / 1_000;

/** After `callers`: each caller has a count of their own, wherever they ask from. */
export const limitCallers = (perMinute: number): RequestHandler =>
  limiter(perMinute, (_request, response) => callerOf(response).id, "you ask too often");

/** Before `callers`: whoever guesses at tokens is slowed down by the address they guess from. */
export const limitGuesses = (perMinute: number): RequestHandler =>
  limiter(
    perMinute,
    (request) => ipKeyGenerator(request.ip ?? ""),
    "too many requests without a valid token",
    (_request, response) => response.statusCode !== 401,
  );

type Key = NonNullable<Parameters<typeof rateLimit>[0]>["keyGenerator"];
type Innocent = NonNullable<Parameters<typeof rateLimit>[0]>["requestWasSuccessful"];

function limiter(perMinute: number, key: Key, why: string, innocent?: Innocent): RequestHandler {
  return rateLimit({
    windowMs: WINDOW_MS,
    limit: perMinute,
    standardHeaders: "draft-8",
    legacyHeaders: false,
    ...(key === undefined ? {} : { keyGenerator: key }),
    ...(innocent === undefined ? {} : { skipSuccessfulRequests: true, requestWasSuccessful: innocent }),
    // Behind a proxy the address is the proxy's unless express is told to trust it: that is the operator's choice.
    validate: { xForwardedForHeader: false },
    handler: (_request, response) => {
      const left = Number(response.getHeader("Retry-After") ?? RETRY_MAX_SECONDS);
      const retryAfterSeconds = Number.isFinite(left) ? left : RETRY_MAX_SECONDS;
      sendProblem(
        response,
        problem("TOO_MANY_REQUESTS", `${why}: ${perMinute} a minute is the limit`, { retryAfterSeconds }),
      );
    },
  });
}
