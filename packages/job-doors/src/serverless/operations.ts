/** The serverless document's endpoints, at the paths that it gives them. A client is a tenant. */
import {
  ANSWERED,
  type Before,
  callerOf,
  operation,
  type Operation,
  type OperationSpec,
  type Problem,
  problem,
  requestIdOf,
} from "@sluice/http-api";
import { isNestedDeeper, isStatus, isTenant, REQUEST_DEPTH, STATUS } from "@sluice/job-queue";
import { Handler, HANDLER_BYTES, HandlerLanguage, HandlerSpec, reason } from "@sluice/wire";
import { z } from "zod";
import { problemOf } from "../http/answers.ts";
import { NO_HANDLER, putHandler, removeHandler } from "../http/handler-changes.ts";
import type { JobPorts } from "../http/ports.ts";
import { readText } from "../http/read-text.ts";
import { SILENCE } from "../http/serve.ts";
import { type Intent, tenantProblem } from "../http/tenancy.ts";
import { statusOnly } from "../queue-port.ts";
import { printIds, readAdding } from "./jobs.ts";

const group = "Serverless";
const ofType = z.strictObject({
  client: z.string().refine(isTenant, "a-z, 0-9 and -, up to 64"),
  type: z.string().max(255),
});
/** A parameter that means nothing is a mistake of whoever wrote it. */
const nothing = z.strictObject({});
const onlyWhy = z.strictObject({ reason: reason.optional() });
const ADD_BYTES = 8 * 1024 * 1024;
const problems = ["NOT_FOUND", "UNAVAILABLE", "FORBIDDEN"] as const;
const handlerAnswer = { description: "the handler", content: { "application/json": Handler } };

export const serverlessOperations = (ports: JobPorts): readonly Operation[] => [
  addJobs(ports),
  addHandler(ports),
  getHandler(ports),
  ...(["post", "delete"] as const).map((method) => deleteHandler(ports, method)),
];

/** Before anything is said of the rest of the request. */
const only = (intent: Intent): Before<typeof ofType> => ({
  refusePath: ({ client }, _request, response) => tenantProblem(callerOf(response), client, intent),
});

function addJobs({ addLines, hear }: JobPorts): Operation {
  const spec = {
    id: "serverlessAddJobs",
    method: "post",
    path: "/{client}/job/{type}/add",
    group,
    summary: "Add jobs: a payload per line; the answer has their ids, a line each",
    permission: "use-jobs",
    params: ofType,
    query: z.strictObject({
      onFinish: z
        .string()
        .max(255)
        .optional()
        .describe("the type of a job that is made with the result of each that ends well"),
    }),
    body: { unread: { "text/plain": z.string().describe("a payload per line; blank lines are no jobs") } },
    responses: { 200: { description: "the ids", content: { "text/plain": z.string() } } },
    problems,
  } as const;
  return operation(
    spec,
    async ({ params: { client, type }, query: { onFinish } }, request, response) => {
      const body = await readText(request, ADD_BYTES);
      if ("problem" in body) return body;
      const payloads = readAdding(client, type, body.text, onFinish);
      const reply = isStatus(payloads)
        ? statusOnly(payloads)
        : await addLines({ tenant: client, name: type }, payloads, onFinish);
      const found = problemOf(reply);
      if (found !== null) return { problem: found };
      const ids = reply.content.kind === "ids" ? reply.content.ids : [];
      hear({ what: "came", door: "serverless", caller: callerOf(response).name, tenant: client, ids, names: [type] });
      response.status(200).type("text/plain").send(printIds(reply));
      return ANSWERED;
    },
    only("act"),
  );
}

function addHandler(ports: JobPorts): Operation {
  const spec = {
    id: "serverlessAddHandler",
    method: "post",
    path: "/{client}/handler/add/{type}/add",
    group,
    summary: "A new handler of a type: its code as text, or all of its fields as JSON",
    permission: "change-handlers",
    params: ofType,
    query: z.strictObject({
      method: HandlerLanguage.optional().describe("its language; node if not said"),
      reason: reason.optional(),
    }),
    body: {
      unread: {
        "text/plain": z.string().describe("the code"),
        "application/json": HandlerSpec.partial({ lang: true }),
      },
    },
    responses: { 200: handlerAnswer },
    problems,
  } as const;
  return operation(
    spec,
    async ({ params: { client, type }, query: { method, reason: why } }, request, response) => {
      const body = await readText(request, 2 * HANDLER_BYTES);
      if ("problem" in body) return body;
      const spec = specOf(body.text, method, request.is("json") !== false);
      if ("problem" in spec) return spec;
      const put = await putHandler(ports, changeOf(client, type, why, response), spec.spec);
      return "problem" in put ? put : { status: 200, body: put.value };
    },
    only("act"),
  );
}

const changeOf = (tenant: string, type: string, why: string | undefined, response: Parameters<typeof callerOf>[0]) => ({
  tenant,
  type,
  caller: callerOf(response),
  requestId: requestIdOf(response),
  reason: why,
});

function specOf(
  text: string,
  method: HandlerSpec["lang"] | undefined,
  isJson: boolean,
): { readonly spec: HandlerSpec } | { readonly problem: Problem } {
  if (isJson && isNestedDeeper(text, REQUEST_DEPTH))
    return { problem: problem("MALFORMED_REQUEST", STATUS.tooDeep.text) };
  const given = isJson ? parsed(text) : { body: text };
  if (typeof given !== "object" || given === null) return { problem: problem("MALFORMED_REQUEST", "this is no JSON") };
  const read = HandlerSpec.safeParse({ lang: "node", ...given, ...(method === undefined ? {} : { lang: method }) });
  if (read.success) return { spec: read.data };
  const errors = read.error.issues.map(({ path, message }) => ({ pointer: `/${path.join("/")}`, detail: message }));
  return { problem: problem("INVALID_REQUEST", "this is no handler", { errors }) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function getHandler({ handlers }: JobPorts): Operation {
  const spec = {
    id: "serverlessGetHandler",
    method: "get",
    path: "/{client}/handler/get/{type}",
    group,
    summary: "The handler of a type, the newest; type@version is that one",
    permission: "see-jobs",
    params: ofType,
    query: nothing,
    responses: { 200: handlerAnswer },
    problems,
  } as const;
  return operation(
    spec,
    async ({ params: { client, type } }) => {
      const found = await handlers.get(client, type);
      if (found === "silence") return SILENCE;
      return found === null ? NO_HANDLER : { status: 200, body: found };
    },
    only("look"),
  );
}

function deleteHandler(ports: JobPorts, method: "post" | "delete"): Operation {
  const spec: OperationSpec<typeof ofType, typeof onlyWhy> = {
    id: method === "post" ? "serverlessDelHandler" : "serverlessDeleteHandler",
    method,
    path: "/{client}/handler/del/{type}/delete",
    group,
    summary: "Delete the handler of a type; its jobs are retried until their time is over",
    permission: "change-handlers",
    params: ofType,
    query: onlyWhy,
    responses: {
      200: { description: "gone", content: { "application/json": z.object({ versions: z.array(z.int()) }) } },
    },
    problems,
  };
  return operation(
    spec,
    async ({ params: { client, type }, query: { reason: why } }, _request, response) => {
      const gone = await removeHandler(ports, changeOf(client, type, why, response));
      return "problem" in gone ? gone : { status: 200, body: gone.value };
    },
    only("act"),
  );
}
