/** How many bytes of bodies the process holds for one caller at once: from their arrival to the answer. */
import type { Request, RequestHandler } from "express";

import { named } from "../named.ts";
import { problem } from "../problem.ts";
import { hasForm } from "../input.ts";
import { callerOf } from "./callers.ts";
import { turnAway } from "./turn-away.ts";

/** A body that does not say how large it is may be as large as any that is read whole. */
const UNSAID_BYTES = 16_000_000;
const RETRY_SECONDS = 1;

/** After `callers`. Forms are not held: their files go to disk as they come. */
export function holdBodies(bytesPerCaller: number): RequestHandler {
  const held = new Map<string, number>();
  return named("holdBodies", (request, response, next) => {
    const bytes = hasForm(request) ? 0 : bytesOf(request);
    if (bytes === 0) {
      next();
      return;
    }
    const { id } = callerOf(response);
    const before = held.get(id) ?? 0;
    // A single body is judged by its operation.
    if (before > 0 && before + bytes > bytesPerCaller) {
      const detail = `your requests under way have ${before} bytes of bodies, and ${bytesPerCaller} is the limit: wait for their answers`;
      turnAway(request, response, problem("TOO_MANY_REQUESTS", detail, { retryAfterSeconds: RETRY_SECONDS }));
      return;
    }
    held.set(id, before + bytes);
    response.once("close", () => {
      const left = (held.get(id) ?? bytes) - bytes;
      if (left > 0) held.set(id, left);
      else held.delete(id);
    });
    next();
  });
}

function bytesOf(request: Request): number {
  if (request.get("transfer-encoding") !== undefined) return UNSAID_BYTES;
  const length = Number(request.get("content-length") ?? 0);
  return Number.isFinite(length) ? length : UNSAID_BYTES;
}
