import { randomUUID } from "node:crypto";

import type { RequestHandler, Response } from "express";

import { named } from "./named.ts";

const HEADER = "X-Request-Id";

/** Goes into logs and answers: nothing that could break a line. */
const ACCEPTABLE = /^[A-Za-z0-9._-]{8,64}$/;

/** Gives every request an id, the caller's own if it is harmless, and sends it back. */
export function requestIds(newId: () => string = randomUUID): RequestHandler {
  return named("requestIds", (request, response, next) => {
    const given = request.get(HEADER);
    const id = given !== undefined && ACCEPTABLE.test(given) ? given : newId();
    response.locals["requestId"] = id;
    response.set(HEADER, id);
    next();
  });
}

export function requestIdOf(response: Response): string {
  const id: unknown = response.locals["requestId"];
  return typeof id === "string" ? id : "unknown";
}
