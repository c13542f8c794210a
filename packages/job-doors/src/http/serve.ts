/** An endpoint of the table and what is done for it, as an operation; who is of another tenant gets no further. */
import { type Caller, may } from "@sluice/access";
import {
  ANSWERED,
  callerOf,
  endpointSpec,
  type Handled,
  operation,
  type Operation,
  type OperationHandler,
  type OperationInput,
  type OperationSpec,
  type Problem,
  problem,
} from "@sluice/http-api";
import { type Reply, SYSTEM_TENANT } from "@sluice/job-queue";
import type { Endpoint } from "@sluice/wire";
import { z } from "zod";
import { type Answer, statusOnly, UNKNOWN_OUTCOME } from "../queue-port.ts";
import { jsonOf, problemOf } from "./answers.ts";
import { NOT_A_SCHEDULE } from "./scheduling.ts";
import { intentOf, tenantProblem } from "./tenancy.ts";

export type Response = Parameters<Parameters<typeof operation>[1]>[2];

export interface Asked<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> extends OperationInput<P, Q, B> {
  readonly caller: Caller;
  readonly response: Response;
}

/** JSON text that is answered as it stands: a job's data keeps its bytes. */
export interface Raw {
  readonly json: string;
}

/** For callers with no more than the endpoint's narrower permission: null = they may ask for this. Nothing, unless it is said. */
type Narrow<P extends z.ZodType = z.ZodType, Q extends z.ZodType = z.ZodType, B extends z.ZodType = z.ZodType> = (
  asked: Asked<P, Q, B>,
) => Promise<Problem | null> | Problem | null;

/** Of a body that names tenants and has passed no schema: why the caller may not ask for them. */
type Refuses = (body: unknown, caller: Caller) => Problem | null;

interface Limits<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly narrow?: Narrow<P, Q, B>;
  readonly refuses?: Refuses;
}

export type Served<A> = { readonly value: A } | Raw | { readonly problem: Problem } | typeof ANSWERED;

const MB = 1024 * 1024;
/** A CreateJobs of ten thousand; or a result of 16 MB, as JSON prints it. */
const BODY_BYTES = { usual: 8 * MB, results: 34 * MB } as const;

export const SILENCE = {
  problem: problem("UNAVAILABLE", "the queue's tree cannot be reached", { retryAfterSeconds: 2 }),
};

export function serve<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, A>,
  handle: (asked: Asked<P, Q, B>) => Promise<Served<z.output<A>>> | Served<z.output<A>>,
  { narrow = () => NOT_A_SCHEDULE, refuses = () => null }: Limits<P, Q, B> = {},
): Operation {
  const intent = endpoint.method === "get" ? "look" : intentOf(endpoint.permission);
  const isNarrowed = (caller: Caller): boolean => !may(caller, endpoint.permission).ok;
  const refusePath = (params: unknown, _request: unknown, response: Response): Problem | null => {
    const caller = callerOf(response);
    const tenant = tenantOf(params);
    const foreign = tenant === null ? null : tenantProblem(caller, tenant, isNarrowed(caller) ? "look" : intent);
    return foreign ?? (isNarrowed(caller) && tenant !== SYSTEM_TENANT ? NOT_A_SCHEDULE : null);
  };
  const refuseBody = (body: unknown, response: Response): Problem | null => refuses(body, callerOf(response));
  const answer: OperationHandler<P, Q, B> = async (input, _request, response) => {
    const asked = { ...input, caller: callerOf(response), response };
    const refused = isNarrowed(asked.caller) ? await narrow(asked) : null;
    if (refused !== null) return { problem: refused };
    const served = await handle(asked);
    if (served === ANSWERED || "problem" in served) return served;
    if ("json" in served) return sendJson(response, endpoint.status, served.json);
    return { status: endpoint.status, body: served.value };
  };
  return operation(specOf(endpoint), answer, { refusePath, refuseBody });
}

const TenantSchema = z.object({ tenant: z.string() });
const tenantOf = (params: unknown): string | null => TenantSchema.safeParse(params).data?.tenant ?? null;

function specOf<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  endpoint: Endpoint<P, Q, B, A>,
): OperationSpec<P, Q, B> {
  const { body, status, answer, path, method } = endpoint;
  const hasResult = /(Finish|Retry|Fail)Job$/.test(path);
  return {
    ...endpointSpec(endpoint),
    ...(body === undefined
      ? {}
      : { body: { json: body, limitBytes: hasResult ? BODY_BYTES.results : BODY_BYTES.usual } }),
    responses: {
      [status]: {
        description: "done",
        ...(path.includes("/commands/") ? { headers: HEADERS } : {}),
        content: { "application/json": answer ?? z.object({}) },
      },
      ...(path.includes("/commands/") ? { 202: { description: "taken on; nobody waits for its answer" } } : {}),
    },
    problems: ["NOT_FOUND", "UNAVAILABLE", "FORBIDDEN", ...(method === "get" ? [] : (["CONFLICT"] as const))],
  };
}

/** The document's status, whose number HTTP has no room for. */
const STATUS_HEADER = "Job-Status";
const HEADERS = { [STATUS_HEADER]: "the status in the words of the document, such as 402 Missing name" };

/** What the queue said, in its own words. */
export function sendAnswer(response: Response, answer: Answer): Handled {
  const reply: Reply = answer ?? statusOnly(UNKNOWN_OUTCOME);
  response.set(STATUS_HEADER, `${reply.status.code} ${reply.status.text}`);
  const found = problemOf(reply);
  if (found !== null) return { problem: found };
  return sendJson(response, reply.status.code === 202 ? 202 : 200, jsonOf(reply.content));
}

export function sendJson(response: Response, status: number, json: string): typeof ANSWERED {
  response.status(status).type("application/json").send(json);
  return ANSWERED;
}

export interface Patience {
  /** Aborts when the caller has gone without an answer. */
  readonly gone: AbortSignal;
  /** Aborts then, and when this process is about to go. */
  readonly over: AbortSignal;
}

/**
 * Not by AbortSignal.any: a signal that lives as long as the process would keep something of every request that was ever
 * joined with it.
 */
export function patienceOf(response: Response, leaving: AbortSignal): Patience {
  const [gone, over] = [new AbortController(), new AbortController()];
  const leave = (): void => over.abort();
  leaving.addEventListener("abort", leave, { once: true });
  if (leaving.aborted) leave();
  response.once("close", () => {
    leaving.removeEventListener("abort", leave);
    gone.abort();
    over.abort();
  });
  return { gone: gone.signal, over: over.signal };
}
