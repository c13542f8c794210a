/** Batches and jobs are looked at, and listened to. */
import { type Handled, operation, type Operation, pageSchema, type ResponseSpec, wantsEvents } from "@sluice/http-api";
import type { Request, Response } from "express";
import { z } from "zod";
import { BatchListQuery, batchPage, JobListQuery, jobPage } from "./batch-lists.ts";
import type { ReadingDeps } from "./deps.ts";
import { BatchParams, JobParams } from "./ids.ts";
import { BatchSchema, BatchSummarySchema, JobSchema, JobSummarySchema } from "./schemas.ts";
import { streamNews } from "./stream-news.ts";
import { lookAtBatch, lookAtJob, subjectOf } from "./subjects.ts";

const NO_ANSWER = ["UNAVAILABLE"] as const;
const NOT_THERE = ["NOT_FOUND", ...NO_ANSWER] as const;

const EVENTS = "text/event-stream";
const stream = z.string().describe("server-sent events");

const streams = (event: string): string =>
  `An event \`${event}\` at once with the whole ${event}, another with every change, \`end\` after the last (then close it: the end ` +
  "stands). `reconnect` says that this process stops. After a break send `Last-Event-ID`, as `EventSource` does: what was " +
  "seen is not sent again, and 204 says that nothing will follow.";

const page = (item: z.ZodType): ResponseSpec => ({
  description: "a page",
  content: { "application/json": pageSchema(item) },
  headers: { Link: 'the next page, if there is one (`rel="next"`)' },
});

const eventResponses = {
  200: { description: "a stream", content: { [EVENTS]: stream } },
  204: { description: "`Last-Event-ID` was the end" },
};

/** A resource, as a document or as a stream, and its stream under an address of its own. */
export function readingOperations(deps: ReadingDeps): readonly Operation[] {
  const show = async (kind: Kind, id: string, request: Request, response: Response): Promise<Handled> => {
    if (wantsEvents(request)) return listen(kind, id, request, response);
    const look = await LOOKS[kind](deps, id);
    return look.kind === "problem" ? look : { status: 200, body: look.view, headers: { Vary: "Accept" } };
  };
  const listen = (kind: Kind, id: string, request: Request, response: Response): Promise<Handled> =>
    streamNews(deps, subjectOf(deps, LOOKS[kind], kind, id), kind, request, response);

  return [
    operation(
      {
        id: "listBatches",
        method: "get",
        path: "/v1/batches",
        group: "Batches",
        summary: "The batches in the queue, newest first",
        description: "Batches that have left the queue are not listed; they are still found by their ids.",
        query: BatchListQuery,
        responses: { 200: page(BatchSummarySchema) },
        problems: NO_ANSWER,
      },
      ({ query }, request) => batchPage(deps, query, request),
    ),
    operation(
      {
        id: "getBatch",
        method: "get",
        path: "/v1/batches/{id}",
        group: "Batches",
        summary: "A batch: where it stands, how many of its jobs are done",
        description: "With `Accept: text/event-stream` the same as `/v1/batches/{id}/events`.",
        params: BatchParams,
        responses: { 200: { description: "it", content: { "application/json": BatchSchema, [EVENTS]: stream } } },
        problems: NOT_THERE,
      },
      ({ params }, request, response) => show("batch", params.id, request, response),
    ),
    operation(
      {
        id: "batchEvents",
        method: "get",
        path: "/v1/batches/{id}/events",
        group: "Batches",
        summary: "A batch, again with every change",
        description: streams("batch"),
        params: BatchParams,
        responses: eventResponses,
        problems: NOT_THERE,
      },
      ({ params }, request, response) => listen("batch", params.id, request, response),
    ),
    operation(
      {
        id: "listJobs",
        method: "get",
        path: "/v1/batches/{id}/jobs",
        group: "Batches",
        summary: "The jobs of a batch, in the order of its manifest",
        params: BatchParams,
        query: JobListQuery,
        responses: { 200: page(JobSummarySchema) },
        problems: NOT_THERE,
      },
      ({ params, query }, request) => jobPage(deps, params.id, query, request),
    ),
    operation(
      {
        id: "getJob",
        method: "get",
        path: "/v1/jobs/{id}",
        group: "Jobs",
        summary: "A job: its state, its history, how far the work is",
        description: "With `Accept: text/event-stream` the same as `/v1/jobs/{id}/events`.",
        params: JobParams,
        responses: { 200: { description: "it", content: { "application/json": JobSchema, [EVENTS]: stream } } },
        problems: NOT_THERE,
      },
      ({ params }, request, response) => show("job", params.id, request, response),
    ),
    operation(
      {
        id: "jobEvents",
        method: "get",
        path: "/v1/jobs/{id}/events",
        group: "Jobs",
        summary: "A job, again with every change",
        description: streams("job"),
        params: JobParams,
        responses: eventResponses,
        problems: NOT_THERE,
      },
      ({ params }, request, response) => listen("job", params.id, request, response),
    ),
  ];
}

const LOOKS = { batch: lookAtBatch, job: lookAtJob } as const;
type Kind = keyof typeof LOOKS;
