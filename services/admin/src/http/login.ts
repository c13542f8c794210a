/** A browser shows its token once, and works with a session from then on: no script can read it, no other site's page use it. */
import type { Authenticator, Caller } from "@sluice/access";
import { type Guesses, jsonBodies, problem, readInput, route, tooMany } from "@sluice/http-api";
import type { IRouter, RequestHandler } from "express";
import { z } from "zod";
import type { Sessions } from "./sessions.ts";

const Login = z.strictObject({ token: z.string().trim().min(1).max(8_192) });
const BODY_BYTES = 20_000;

export interface LoginParts {
  readonly authenticator: Authenticator;
  readonly sessions: Sessions;
  /** Nobody is logged in, or out, by a page of another site. */
  readonly ownPagesOnly: RequestHandler;
  readonly guesses: Guesses;
  readonly onLogin: (who: Caller, from: string) => void;
  readonly onRefused: () => void;
}

export function addLogin(router: IRouter, parts: LoginParts): void {
  const { authenticator, sessions, ownPagesOnly, guesses, onLogin, onRefused } = parts;
  router.post(
    "/login",
    ownPagesOnly,
    jsonBodies(BODY_BYTES),
    route(async (request) => {
      const body = readInput(Login, request.body);
      if (!body.ok) return { problem: body.problem };
      const credentials = `Bearer ${body.value.token}`;
      const found = await authenticator.authenticate(credentials);
      if (found.kind === "caller") {
        const { id, name, role } = found.caller;
        onLogin(found.caller, request.ip ?? "");
        return {
          status: 200,
          body: { name, role },
          headers: { "Set-Cookie": sessions.begin(request, credentials, id) },
        };
      }
      if (found.kind === "silence") {
        return {
          problem: problem("UNAVAILABLE", "who you are cannot be checked at the moment", { retryAfterSeconds: 5 }),
        };
      }
      if (found.kind === "anonymous") return { problem: problem("UNAUTHENTICATED", "the token is empty") };
      onRefused();
      return { problem: tooMany(guesses, request, found) ?? problem("UNAUTHENTICATED", found.why) };
    }),
  );
  router.post(
    "/logout",
    ownPagesOnly,
    route((request) => ({ status: 204, headers: { "Set-Cookie": sessions.end(request) } })),
  );
}
