/** A route as data: what it takes and answers. The route, the checks of its input and its documentation are made from it. */
import type { Request, RequestHandler, Response } from "express";
import type { Permission } from "@sluice/access";
import type { z } from "zod";

import { type FirstMember, jsonBodies } from "./body/json-bodies.ts";
import { hasForm, readInput } from "./input.ts";
import { problem, type Problem, type ProblemCode } from "./problem.ts";
import { type Reply, sendProblem, sendReply } from "./reply.ts";
import { traceRequest } from "./trace-request.ts";
import { allow } from "./wall/callers.ts";
import { turnAway } from "./wall/turn-away.ts";

export type Method = "get" | "post" | "put" | "patch" | "delete";

export interface ResponseSpec {
  readonly description: string;
  /** By media type; absent = no body. */
  readonly content?: Readonly<Record<string, z.ZodType>>;
  /** Names and meanings. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BodySpec<B extends z.ZodType = z.ZodType> {
  readonly json?: B;
  readonly limitBytes?: number;
  /** Values and members of the JSON, all together. */
  readonly maxValues?: number;
  /** By what a caller is refused before a large body is read. */
  readonly first?: FirstMember;
  /** Multipart form: its fields, and the name of its file parts. */
  readonly form?: { readonly fields: z.ZodType; readonly files: string };
  /** What the handler reads by itself, by media type. */
  readonly unread?: Readonly<Record<string, z.ZodType>>;
  /** A body that can be sent as it stands, for the documentation. */
  readonly example?: unknown;
}

export interface OperationSpec<
  P extends z.ZodType = z.ZodType,
  Q extends z.ZodType = z.ZodType,
  B extends z.ZodType = z.ZodType,
> {
  /** Unique: name of the function in generated clients, and anchor on the page. */
  readonly id: string;
  readonly method: Method;
  /** With its parameters in braces: /v1/batches/{id} */
  readonly path: string;
  /** Under which heading it is listed. */
  readonly group: string;
  readonly summary: string;
  readonly description?: string;
  readonly params?: P;
  readonly query?: Q;
  /** Request headers by their usual spelling; absent ones are undefined. */
  readonly headers?: z.ZodType;
  readonly body?: BodySpec<B>;
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Besides those that every operation with such inputs has. */
  readonly problems?: readonly ProblemCode[];
  /** What the caller's role must allow; absent = anybody may ask. */
  readonly permission?: Permission;
  /** Who has this one instead passes too; the handler narrows what they may ask for. */
  readonly narrowed?: Permission;
}

/** Input that has passed its schemas. Without a schema there is nothing to look at. */
export interface OperationInput<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> {
  readonly params: z.output<P>;
  readonly query: z.output<Q>;
  readonly body: z.output<B>;
}

/** The handler has answered by itself: a stream, a form's own dialect. */
export const ANSWERED = "answered";
export type Handled = Reply | typeof ANSWERED;

export interface Operation {
  readonly spec: OperationSpec;
  readonly handlers: readonly RequestHandler[];
}

export type OperationHandler<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType> = (
  input: OperationInput<P, Q, B>,
  request: Request,
  response: Response,
) => Promise<Handled> | Handled;

/** Takes the request with its body unread. */
export type FormHandler = (request: Request, response: Response) => Promise<void>;

type Refusing = Promise<Problem | null> | Problem | null;

/** What comes before an operation's input is looked at. */
export interface Before<P extends z.ZodType> {
  /** Gets the requests that bring a multipart form. */
  readonly takeForm?: FormHandler;
  /** Why the caller may not ask for what the path names; null: they may. Query and body have not been looked at. */
  readonly refusePath?: (params: z.output<P>, request: Request, response: Response) => Refusing;
  /** Why the caller may not ask for what the body names, which has passed no schema. */
  readonly refuseBody?: (body: unknown, response: Response) => Refusing;
}

/** Joins a description with what is done. Whether the caller may ask is said before what is wrong with the request. */
export function operation<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  spec: OperationSpec<P, Q, B>,
  handle: OperationHandler<P, Q, B>,
  { takeForm, refusePath, refuseBody }: Before<P> = {},
): Operation {
  // Whoever may not ask has no body read.
  const gate = [traceRequest(spec), ...gateOf(spec)];
  if (refusePath !== undefined) gate.push(guardOf(spec, refusePath));
  const read: RequestHandler[] = spec.body?.json === undefined ? [] : [jsonBodies(spec.body.limitBytes, spec.body)];
  const checked: RequestHandler = async (request, response) => {
    const refused = (await refuseBody?.(request.body, response)) ?? null;
    if (refused !== null) {
      sendProblem(response, refused);
      return;
    }
    const input = inputOf(spec, request);
    if ("problem" in input) {
      sendProblem(response, input.problem);
      return;
    }
    const handled = await handle(input, request, response);
    if (handled !== ANSWERED) sendReply(response, handled);
  };
  const forms = takeForm === undefined ? [] : [formsTo(takeForm)];
  return { spec, handlers: [...gate, ...forms, ...read, checked] };
}

function guardOf<P extends z.ZodType>(
  { params }: Pick<OperationSpec<P>, "params">,
  refuse: NonNullable<Before<P>["refusePath"]>,
): RequestHandler {
  return async (request, response, next) => {
    const read = params === undefined ? NOTHING : readInput(params, request.params, "path");
    const refused = read.ok ? await refuse(valueOf<P>(read), request, response) : read.problem;
    if (refused === null) next();
    else turnAway(request, response, refused);
  };
}

const gateOf = ({ permission, narrowed }: OperationSpec): RequestHandler[] =>
  permission === undefined ? [] : [allow(permission, narrowed)];

/** An operation that takes multipart forms and nothing else. */
export const formOperation = (spec: OperationSpec, takeForm: FormHandler): Operation => ({
  spec,
  handlers: [traceRequest(spec), ...gateOf(spec), (request, response) => takeForm(request, response)],
});

const formsTo =
  (takeForm: FormHandler): RequestHandler =>
  async (request, response, next) => {
    if (hasForm(request)) await takeForm(request, response);
    else next();
  };

function inputOf<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  spec: OperationSpec<P, Q, B>,
  request: Request,
): OperationInput<P, Q, B> | { readonly problem: Problem } {
  const bodySchema = spec.body?.json;
  if (bodySchema !== undefined && request.body === undefined) return { problem: noBody(spec) };
  const params = spec.params === undefined ? NOTHING : readInput(spec.params, request.params, "path");
  const query = spec.query === undefined ? NOTHING : readInput(spec.query, request.query, "query");
  const headers =
    spec.headers === undefined ? NOTHING : readInput(spec.headers, headersOf(spec.headers, request), "headers");
  const body = bodySchema === undefined ? NOTHING : readInput(bodySchema, request.body, "body");
  for (const part of [params, query, headers, body]) if (!part.ok) return { problem: part.problem };
  // Each part is its schema's output, or undefined where there is no schema.
  return { params: valueOf<P>(params), query: valueOf<Q>(query), body: valueOf<B>(body) };
}

const NOTHING = { ok: true, value: undefined } as const;

const valueOf = <S extends z.ZodType>(part: { readonly ok: boolean; readonly value?: unknown }): z.output<S> =>
  part.value as z.output<S>;

function noBody({ body }: OperationSpec): Problem {
  const forms = body?.form === undefined ? "" : " or multipart/form-data";
  return problem("UNSUPPORTED_MEDIA_TYPE", `expected application/json${forms}`);
}

function headersOf(schema: z.ZodType, request: Request): Readonly<Record<string, unknown>> {
  const names = "shape" in schema && typeof schema.shape === "object" ? Object.keys(schema.shape ?? {}) : [];
  return Object.fromEntries(names.map((name) => [name, request.get(name)]));
}
