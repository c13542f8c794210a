/** Every operation of the service; routes and documentation are made from this list. */
import { type OpenApiDocument, openApiDocument, type Operation } from "@sluice/http-api";
import type { HttpDeps } from "./deps.ts";
import { merrittOperations } from "./merritt/admin-operations.ts";
import { posterOperations } from "./poster-operations.ts";
import { readingOperations } from "./reading/operations.ts";
import { scheduleOperations } from "./schedule-operations.ts";
import { submitOperations } from "./submit-operations.ts";

export const intakeOperations = (deps: HttpDeps): readonly Operation[] => [
  ...submitOperations(deps),
  ...scheduleOperations(deps),
  ...readingOperations(deps.reading),
  ...posterOperations(deps),
  ...merrittOperations(deps),
];

export const intakeDocument = (operations: readonly Operation[], version: string): OpenApiDocument =>
  openApiDocument(
    {
      title: "Sluice: deposits",
      version,
      description:
        "Submit batches, look at them and their jobs, hear of every change.\n\nTimes are RFC 3339 in UTC, ids are texts, unknown fields of a " +
        "request are refused, those of an answer are to be ignored. Errors are `application/problem+json` (RFC 9457) and name the " +
        "field; `X-Request-Id` of the answer helps us to find it in our logs.",
      groups: {
        Batches: "A batch is what was submitted at once. It becomes one job per object.",
        Schedules: "A deposit for later, or for again and again.",
        Jobs: "A job brings one object into the store and the inventory.",
        "Merritt's form": "For clients that were written for Merritt.",
        "Merritt's admin tool":
          "What it asks an ingest service, where that has a meaning here. `GET /state` and `/help` need no token.",
      },
    },
    operations,
  );
