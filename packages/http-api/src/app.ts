import express, { type Express, type RequestHandler } from "express";

import { errorHandler, type OnError } from "./error-handler.ts";
import { notFound } from "./reply.ts";
import { requestIds } from "./request-id.ts";
import { type Forbidden, tellForbidden } from "./wall/forbidden.ts";
import { dataHeaders } from "./wall/headers.ts";

export interface AppOptions {
  readonly onError: OnError;
  /** Told of every 403. */
  readonly onForbidden?: (what: Forbidden) => void;
  readonly newId?: () => string;
  /** Addresses whose X-Forwarded-For and X-Forwarded-Proto are believed; nobody's unless it is said. */
  readonly trustedProxies?: readonly string[];
}

/** An express app with our manners around the routes that `addRoutes` adds. */
export function createApp(options: AppOptions, addRoutes: (app: Express) => void): Express {
  const app = express();
  app.disable("x-powered-by");
  app.set("query parser", "simple");
  app.set("trust proxy", [...(options.trustedProxies ?? [])]);
  app.use(requestIds(options.newId));
  if (options.onForbidden !== undefined) app.use(tellForbidden(options.onForbidden));
  app.use(dataHeaders());
  app.use(notKept);
  addRoutes(app);
  app.use(notFound);
  app.use(errorHandler(options.onError));
  return app;
}

/** Whether an address is a proxy that the app believes: its connections are those of all its clients. */
export const isProxyOf =
  (app: Express) =>
  (address: string): boolean => {
    const isTrusted: unknown = app.get("trust proxy fn");
    return (
      typeof isTrusted === "function" && Boolean((isTrusted as (address: string, hop: number) => unknown)(address, 0))
    );
  };

/** Answers are for this caller, now. */
const notKept: RequestHandler = (_request, response, next) => {
  response.set("Cache-Control", "no-store");
  next();
};
