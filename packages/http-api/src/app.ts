import express, { type Express, type RequestHandler } from "express";

import { errorHandler, type OnError } from "./error-handler.ts";
import { notFound } from "./reply.ts";
import { requestIds } from "./request-id.ts";

export interface AppOptions {
  readonly onError: OnError;
  readonly newId?: () => string;
}

/** An express app with our manners around the routes that `addRoutes` adds. */
export function createApp(options: AppOptions, addRoutes: (app: Express) => void): Express {
  const app = express();
  app.disable("x-powered-by");
  app.set("query parser", "simple");
  app.use(requestIds(options.newId));
  app.use(plainHeaders);
  addRoutes(app);
  app.use(notFound);
  app.use(errorHandler(options.onError));
  return app;
}

/** Answers are data for this caller: not to be guessed at, framed or kept. */
const plainHeaders: RequestHandler = (_request, response, next) => {
  response.set({ "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cache-Control": "no-store" });
  next();
};
