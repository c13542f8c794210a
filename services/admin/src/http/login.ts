/** Browsers have their token in a cookie that no script can read, and that no other site's page can use. */
import type { Authenticator } from "@sluice/access";
import { jsonBodies, problem, readInput, route, sendProblem } from "@sluice/http-api";
import type { IRouter, Request, RequestHandler } from "express";
import { z } from "zod";

const Login = z.strictObject({ token: z.string().trim().min(1).max(8_192) });
const BODY_BYTES = 20_000;

export interface LoginParts {
  readonly authenticator: Authenticator;
  readonly cookie: string;
  /** Slows down who guesses. */
  readonly limit: RequestHandler;
  readonly onRefused: () => void;
}

export function addLogin(router: IRouter, { authenticator, cookie, limit, onRefused }: LoginParts): void {
  router.post(
    "/login",
    limit,
    ownPagesOnly,
    jsonBodies(BODY_BYTES),
    route(async (request) => {
      const body = readInput(Login, request.body);
      if (!body.ok) return { problem: body.problem };
      const found = await authenticator.authenticate(`Bearer ${body.value.token}`);
      if (found.kind === "caller") {
        const { name, role } = found.caller;
        return {
          status: 200,
          body: { name, role },
          headers: { "Set-Cookie": kept(cookie, body.value.token, request) },
        };
      }
      if (found.kind === "silence") {
        return {
          problem: problem("UNAVAILABLE", "who you are cannot be checked at the moment", { retryAfterSeconds: 5 }),
        };
      }
      onRefused();
      return { problem: problem("UNAUTHENTICATED", found.kind === "refused" ? found.why : "the token is empty") };
    }),
  );
  router.post(
    "/logout",
    ownPagesOnly,
    route((request) => ({ status: 204, headers: { "Set-Cookie": `${kept(cookie, "", request)}; Max-Age=0` } })),
  );
}

/** Until the browser is closed, or the token ends. */
function kept(name: string, value: string, request: Request): string {
  const isHttps = request.secure || request.get("x-forwarded-proto") === "https";
  return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict${isHttps ? "; Secure" : ""}`;
}

/** Nobody is logged in, or out, by a page of another site. */
const ownPagesOnly: RequestHandler = (request, response, next) => {
  const site = request.get("sec-fetch-site") ?? "none";
  if (site === "none" || site === "same-origin") next();
  else sendProblem(response, problem("FORBIDDEN", "pages of other sites may not ask"));
};
