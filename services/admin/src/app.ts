import { createApp, type OnError, problem, route } from "@sluice/http-api";
import type { Express } from "express";
import { PAGE_POLICY, queuePage } from "./page.ts";
import { queueJson } from "./queue-json.ts";
import type { Surveyor } from "./surveyor.ts";

const SILENCE = problem("UNAVAILABLE", "ZooKeeper does not answer just now", { retryAfterSeconds: 5 });

/** What operators see until there is a console. It changes nothing, so it asks nobody who they are. */
export function adminApp(surveyor: Surveyor, onError: OnError): Express {
  return createApp({ onError }, (app) => {
    app.get("/", async (_request, response) => {
      const survey = await surveyor.survey();
      response.status(survey === null ? 503 : 200);
      response.set("Content-Security-Policy", PAGE_POLICY).type("html").send(queuePage(survey));
    });
    app.get(
      "/v1/queue",
      route(async () => {
        const survey = await surveyor.survey();
        return survey === null ? { problem: SILENCE } : { status: 200, body: queueJson(survey) };
      }),
    );
  });
}
