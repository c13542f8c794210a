import { readFileSync } from "node:fs";

import type { IRouter, RequestHandler } from "express";

import type { OpenApiDocument } from "../openapi/document.ts";
import { docsPage } from "./page.ts";

/** Nothing from elsewhere, nothing inline; the forms may ask this very server. */
export const DOCS_POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The paths that `serveDocs` adds. */
export const DOCS_PATHS = ["/openapi.json", "/docs", "/docs/docs.css", "/docs/try-it.js"] as const;

/** The document at /openapi.json and, for people, at /docs. */
export function serveDocs(router: IRouter, document: OpenApiDocument): void {
  const [json, page, style, script] = DOCS_PATHS;
  router.get(json, sends("application/json", JSON.stringify(document)));
  router.get(page, sends("text/html", docsPage(document)));
  router.get(style, sends("text/css", asset("docs.css")));
  router.get(script, sends("text/javascript", asset("try-it.js")));
}

/** Beside src and dist alike. */
const asset = (name: string): string => readFileSync(new URL(`../../assets/${name}`, import.meta.url), "utf8");

const sends =
  (type: string, body: string): RequestHandler =>
  (request, response, next) => {
    // Links on the page are relative to /docs, not to /docs/.
    if (request.path.endsWith("/")) next();
    else response.set("Content-Security-Policy", DOCS_POLICY).type(`${type}; charset=utf-8`).send(body);
  };
