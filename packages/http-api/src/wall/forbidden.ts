/** What was asked of us by who may not: whoever serves writes it down, so that attempts can be found. */
import type { RequestHandler } from "express";

import { named } from "../named.ts";
import { requestIdOf } from "../request-id.ts";
import { knownCaller } from "./callers.ts";

export interface Forbidden {
  /** null: not known, a page of another site for example. */
  readonly caller: string | null;
  readonly method: string;
  /** Without its query, which may hold anything. */
  readonly path: string;
  readonly from: string;
  readonly requestId: string;
}

export const tellForbidden = (onForbidden: (what: Forbidden) => void): RequestHandler =>
  named("tellForbidden", (request, response, next) => {
    response.once("finish", () => {
      if (response.statusCode !== 403) return;
      const [path = ""] = request.originalUrl.split("?");
      const caller = knownCaller(response)?.id ?? null;
      onForbidden({ caller, method: request.method, path, from: request.ip ?? "", requestId: requestIdOf(response) });
    });
    next();
  });
