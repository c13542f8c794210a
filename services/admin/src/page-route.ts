import type { IRouter } from "express";
import { PAGE_POLICY, queuePage } from "./page.ts";
import type { Surveyor } from "./surveyor.ts";

/** The plain page, where the console has not been built. Counts only: nothing of anybody's deposits. */
export function addPage(router: IRouter, surveyor: Surveyor): void {
  router.get("/", async (_request, response) => {
    const survey = await surveyor.survey();
    response.status(survey === null ? 503 : 200);
    response.set("Content-Security-Policy", PAGE_POLICY).type("html").send(queuePage(survey));
  });
}
