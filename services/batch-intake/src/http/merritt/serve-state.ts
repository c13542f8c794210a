/**
 * GET /state and /help, as Merritt's monitors ask: without credentials, and so without anything that is not for everybody.
 * /help answers the same there.
 */
import type { Express, Request, Response } from "express";
import type { HttpDeps } from "../deps.ts";
import { CONTENT_TYPES, printState, responseFormOf } from "./elements.ts";
import { serviceState, type Stated } from "./states.ts";

export const OPEN_PATHS = ["/state", "/help", "/poster/state", "/poster/help"] as const;

type StateDeps = Pick<HttpDeps, "merritt" | "version">;

export function serveState(app: Express, deps: StateDeps): void {
  for (const path of OPEN_PATHS) app.get(path, (request, response) => answerState(deps, request, response));
}

async function answerState({ merritt, version }: StateDeps, request: Request, response: Response): Promise<void> {
  const holds = await merritt.holds();
  const facts = { fleet: merritt.fleet(), version, startedAtMs: merritt.startedAtMs };
  sendStated(request, response, serviceState({ ...facts, paused: holds?.queuePaused ?? null, held: null }));
}

/** `?t=` names the form, as everywhere in Merritt; one that we do not speak is XML. */
export function sendStated(request: Request, response: Response, { root, vocabulary }: Stated): void {
  const form = responseFormOf(request, typeof request.query["t"] === "string" ? request.query["t"] : "") ?? "xml";
  response
    .status(200)
    .type(CONTENT_TYPES[form])
    .send(printState(root, form, vocabulary));
}
