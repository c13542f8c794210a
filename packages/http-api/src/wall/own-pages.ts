/**
 * Browsers ask in the name of whoever sits before them, for any page they show. Neither a loopback address nor credentials that
 * a browser keeps stop a page of another site, so requests of other sites' pages are refused everywhere.
 */
import { isThisMachine } from "@sluice/access";
import type { Request, RequestHandler } from "express";

import { named } from "../named.ts";
import { problem } from "../problem.ts";
import { turnAway } from "./turn-away.ts";

/** `this-machine`: while anybody may do everything, a name that others can point at this machine must not be answered. */
export type AnsweredHosts = "any" | "this-machine";

export function ownPagesOnly(hosts: AnsweredHosts): RequestHandler {
  return named("ownPagesOnly", (request, response, next) => {
    if (hosts === "this-machine" && !isThisMachine(hostnameOf(request)))
      turnAway(
        request,
        response,
        problem("FORBIDDEN", "while AUTH is off this service is asked as localhost or 127.0.0.1, by no other name"),
      );
    else if (isOfOtherSite(request))
      turnAway(request, response, problem("FORBIDDEN", "pages of other sites may not ask"));
    else next();
  });
}

/** Of the Host header, without its port; an IPv6 address without its brackets. */
function hostnameOf(request: Request): string {
  const url = `http://${request.get("host") ?? ""}`;
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1") : "";
}

/** Who is no browser sends neither header. */
function isOfOtherSite(request: Request): boolean {
  const site = request.get("sec-fetch-site");
  if (site !== undefined) return site !== "none" && site !== "same-origin";
  const origin = request.get("origin");
  return origin !== undefined && !isOwnOrigin(request, origin);
}

const isOwnOrigin = (request: Request, origin: string): boolean =>
  URL.canParse(origin) && new URL(origin).host === request.get("host")?.toLowerCase();

/** A cookie is sent whoever makes the browser ask: to change something with it takes a browser that says it was our own page. */
export function isProvedOwnPage(request: Request): boolean {
  if (request.method === "GET" || request.method === "HEAD") return true;
  if (request.get("sec-fetch-site") !== undefined) return request.get("sec-fetch-site") === "same-origin";
  return request.get("origin") !== undefined;
}
