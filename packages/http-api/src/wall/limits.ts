/** How much one caller may ask: beyond it 429 with Retry-After. Counted per process; a fleet's limit is the ingress's. */
import type { RequestHandler } from "express";
import { rateLimit } from "express-rate-limit";

import { named } from "../named.ts";
import { problem } from "../problem.ts";
import { callerOf } from "./callers.ts";
import { turnAway } from "./turn-away.ts";

const WINDOW_MS = 60_000;
const RETRY_MAX_SECONDS = WINDOW_MS / 1_000;

/** After `callers`: each caller has a count of their own, wherever they ask from. */
export const limitCallers = (perMinute: number): RequestHandler =>
  named(
    "limitCallers",
    rateLimit({
      windowMs: WINDOW_MS,
      limit: perMinute,
      standardHeaders: "draft-8",
      legacyHeaders: false,
      keyGenerator: (_request, response) => callerOf(response).id,
      // It counts callers, not addresses.
      validate: { xForwardedForHeader: false },
      handler: (request, response) => {
        const left = Number(response.getHeader("Retry-After") ?? RETRY_MAX_SECONDS);
        const retryAfterSeconds = Number.isFinite(left) ? left : RETRY_MAX_SECONDS;
        const detail = `you ask too often: ${perMinute} a minute is the limit`;
        turnAway(request, response, problem("TOO_MANY_REQUESTS", detail, { retryAfterSeconds }));
      },
    }),
  );
