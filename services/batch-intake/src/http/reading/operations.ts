/** Batches and jobs are looked at, and listened to. Everybody sees what is in their collections, and nothing else. */
import { inScope } from "@sluice/access";
import {
  callerOf,
  endpointSpec,
  type Handled,
  operation,
  type Operation,
  pageSchema,
  type ResponseSpec,
  wantsEvents,
} from "@sluice/http-api";
import { parseBatchUuid } from "@sluice/queue-core";
import { BatchRefusals, BatchSummary, INTAKE, Job, JobSummary, SubmittedBatch } from "@sluice/wire";
import type { Request, Response } from "express";
import { z } from "zod";
import { batchPage, jobPage } from "./batch-lists.ts";
import type { ReadingDeps } from "./deps.ts";
import { showRefusal, submissionOf } from "./kept.ts";
import { NOWHERE } from "./lookup.ts";
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

const document = (view: z.ZodType): Readonly<Record<number, ResponseSpec>> => ({
  200: { description: "it", content: { "application/json": view, [EVENTS]: stream } },
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
    if (look.kind === "problem") return look;
    if (!inScope(callerOf(response).scope, look.view.profile)) return { problem: NOWHERE };
    return { status: 200, body: look.view, headers: { Vary: "Accept" } };
  };
  const listen = (kind: Kind, id: string, request: Request, response: Response): Promise<Handled> => {
    const { scope } = callerOf(response);
    return streamNews(deps, { scope, event: kind, subject: subjectOf(deps, LOOKS[kind], kind, id) }, request, response);
  };

  return [
    operation(
      {
        ...endpointSpec(INTAKE.listBatches),
        description: "Batches that have left the queue are not listed; they are still found by their ids.",
        responses: { 200: page(BatchSummary) },
        problems: NO_ANSWER,
      },
      ({ query }, request, response) => batchPage(deps, callerOf(response).scope, query, request),
    ),
    operation(
      {
        ...endpointSpec(INTAKE.getBatch),
        description: "With `Accept: text/event-stream` the same as `/v1/batches/{id}/events`.",
        responses: document(SubmittedBatch),
        problems: NOT_THERE,
      },
      ({ params }, request, response) => show("batch", params.id, request, response),
    ),
    operation(
      {
        ...endpointSpec(INTAKE.batchEvents),
        description: streams("batch"),
        responses: eventResponses,
        problems: NOT_THERE,
      },
      ({ params }, request, response) => listen("batch", params.id, request, response),
    ),
    operation(
      { ...endpointSpec(INTAKE.listJobs), responses: { 200: page(JobSummary) }, problems: NOT_THERE },
      ({ params, query }, request, response) => jobPage(deps, callerOf(response).scope, params.id, query, request),
    ),
    operation(
      {
        ...endpointSpec(INTAKE.listRefusals),
        description: "Only the intake that took it knows: what it is asked for must be `bid-` and a UUID.",
        responses: { 200: { description: "them", content: { "application/json": BatchRefusals } } },
        problems: ["NOT_FOUND"],
      },
      ({ params }, _request, response) => refusalsOf(deps, params.id, response),
    ),
    operation(
      {
        ...endpointSpec(INTAKE.getJob),
        description: "With `Accept: text/event-stream` the same as `/v1/jobs/{id}/events`.",
        responses: document(Job),
        problems: NOT_THERE,
      },
      ({ params }, request, response) => show("job", params.id, request, response),
    ),
    operation(
      {
        ...endpointSpec(INTAKE.jobEvents),
        description: streams("job"),
        responses: eventResponses,
        problems: NOT_THERE,
      },
      ({ params }, request, response) => listen("job", params.id, request, response),
    ),
  ];
}

function refusalsOf({ backlog }: ReadingDeps, id: string, response: Response): Handled {
  const uuid = parseBatchUuid(id);
  if (uuid === null) return { problem: NOWHERE };
  const { scope } = callerOf(response);
  const theirs = backlog.refusals(uuid).filter((refusal) => inScope(scope, submissionOf(refusal)?.profile_name ?? ""));
  return { status: 200, body: { refusals: theirs.map(showRefusal) } };
}

const LOOKS = { batch: lookAtBatch, job: lookAtJob } as const;
type Kind = keyof typeof LOOKS;
