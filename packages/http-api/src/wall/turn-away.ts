import type { Request, Response } from "express";

import type { Problem } from "../problem.ts";
import { sendProblem } from "../reply.ts";

/** RFC 6750: a 401 says how to ask. Whoever is still sending is told not to: the connection ends with this answer. */
export function turnAway(request: Request, response: Response, found: Problem): void {
  if (found.code === "UNAUTHENTICATED") response.set("WWW-Authenticate", 'Bearer realm="sluice"');
  const hasBody = request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) > 0;
  if (hasBody && !request.complete) response.set("Connection", "close");
  sendProblem(response, found);
}
