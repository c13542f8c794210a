/** An OpenAPI 3.1 document, made from the same descriptions as the routes. */
import { z } from "zod";

import type { BodySpec, Operation, OperationSpec, ResponseSpec } from "../operation.ts";
import { PROBLEM_MEDIA_TYPE, type ProblemCode, PROBLEMS } from "../problem.ts";
import { type JsonSchema, makeSchemaBook, type SchemaBook } from "./json-schema.ts";

export interface ApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Groups in the order in which they are shown, with a sentence each. */
  readonly groups: Readonly<Record<string, string>>;
}

export interface DocumentParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
}

export interface DocumentContent {
  readonly schema: JsonSchema;
  readonly example?: unknown;
}

export interface DocumentResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly schema: JsonSchema }>>;
  readonly content?: Readonly<Record<string, DocumentContent>>;
}

export interface DocumentOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly DocumentParameter[];
  readonly requestBody?: { readonly required: true; readonly content: Readonly<Record<string, DocumentContent>> };
  readonly responses: Readonly<Record<string, DocumentResponse>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export interface OpenApiDocument {
  readonly openapi: "3.1.1";
  readonly jsonSchemaDialect: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly securitySchemes?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
}

export function openApiDocument({ groups, ...info }: ApiInfo, operations: readonly Operation[]): OpenApiDocument {
  const book = makeSchemaBook();
  const paths: Record<string, Record<string, DocumentOperation>> = {};
  const guarded = operations.some(({ spec }) => spec.permission !== undefined);
  for (const { spec } of operations) {
    const path = (paths[spec.path] ??= {});
    if (path[spec.method] !== undefined) throw new Error(`${spec.method} ${spec.path} is described twice`);
    if (groups[spec.group] === undefined)
      throw new Error(`${spec.id} is in the group ${spec.group}, which has no description`);
    path[spec.method] = operationOf(spec, book);
  }
  return {
    openapi: "3.1.1",
    jsonSchemaDialect: "https://spec.openapis.org/oas/3.1/dialect/base",
    info,
    servers: [{ url: "/" }],
    tags: Object.entries(groups).map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: book.components(), ...(guarded ? { securitySchemes: { [BEARER]: SCHEME } } : {}) },
  };
}

const BEARER = "bearer";
const SCHEME = { type: "http", scheme: "bearer", description: "a token made by `sluice token`, or a JWT" };

function operationOf(spec: OperationSpec, book: SchemaBook): DocumentOperation {
  const parameters = [
    ...parametersOf("path", spec.params, book),
    ...parametersOf("query", spec.query, book),
    ...parametersOf("header", spec.headers, book),
  ];
  return {
    operationId: spec.id,
    tags: [spec.group],
    summary: spec.summary,
    ...(spec.permission === undefined ? {} : { security: [{ [BEARER]: [] }] }),
    ...(spec.description === undefined ? {} : { description: spec.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(spec.body === undefined ? {} : { requestBody: { required: true as const, content: bodyOf(spec.body, book) } }),
    responses: {
      ...Object.fromEntries(Object.entries(spec.responses).map(([status, one]) => [status, responseOf(one, book)])),
      ...problemResponses(spec, book),
    },
  };
}

function parametersOf(
  place: DocumentParameter["in"],
  schema: z.ZodType | undefined,
  book: SchemaBook,
): readonly DocumentParameter[] {
  if (schema === undefined) return [];
  const object = book.schemaOf(schema, "input") as { properties?: Record<string, JsonSchema>; required?: string[] };
  return Object.entries(object.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    required: place === "path" || (object.required ?? []).includes(name),
    ...(typeof description === "string" ? { description } : {}),
    schema: rest,
  }));
}

function bodyOf(
  { json, form, unread = {}, example }: BodySpec,
  book: SchemaBook,
): Readonly<Record<string, DocumentContent>> {
  return {
    ...(json === undefined
      ? {}
      : {
          "application/json": { schema: book.schemaOf(json, "input"), ...(example === undefined ? {} : { example }) },
        }),
    ...(form === undefined ? {} : { "multipart/form-data": { schema: formSchema(form, book) } }),
    ...mapValues(unread, (schema) => ({ schema: book.schemaOf(schema, "input") })),
  };
}

function formSchema({ fields, files }: NonNullable<BodySpec["form"]>, book: SchemaBook): JsonSchema {
  const schema = book.schemaOf(fields, "input") as { properties?: object; required?: readonly string[] };
  const file = {
    description: "the payload; may be repeated",
    type: "string",
    contentMediaType: "application/octet-stream",
  };
  return {
    ...schema,
    properties: { ...schema.properties, [files]: file },
    required: [...(schema.required ?? []), files],
  };
}

function responseOf({ description, content, headers }: ResponseSpec, book: SchemaBook): DocumentResponse {
  return {
    description,
    ...(headers === undefined
      ? {}
      : { headers: mapValues(headers, (text) => ({ description: text, schema: { type: "string" } })) }),
    ...(content === undefined
      ? {}
      : { content: mapValues(content, (schema) => ({ schema: book.schemaOf(schema, "output") })) }),
  };
}

const mapValues = <T, U>(of: Readonly<Record<string, T>>, by: (value: T) => U): Readonly<Record<string, U>> =>
  Object.fromEntries(Object.entries(of).map(([key, value]) => [key, by(value)]));

/** RFC 9457, as every error is told. */
const ProblemSchema = z
  .object({
    type: z.string().describe("a path that names the kind of problem"),
    title: z.string(),
    status: z.number().int(),
    detail: z.string().describe("for people, about this case"),
    instance: z.string().describe("the request's id, as in our logs"),
    code: z.string(),
    errors: z
      .array(
        z.object({
          pointer: z.string().optional().describe("into a JSON body (RFC 6901)"),
          field: z.string().optional().describe("of a path, query, header or form"),
          line: z.number().int().optional().describe("of a manifest"),
          detail: z.string(),
        }),
      )
      .optional()
      .describe("each fault by its place"),
  })
  .meta({ id: "Problem" });

function problemResponses(spec: OperationSpec, book: SchemaBook): Readonly<Record<string, DocumentResponse>> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set([...impliedProblems(spec), ...(spec.problems ?? [])])) {
    const { status } = PROBLEMS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      String(status),
      {
        description: codes.map((code) => `\`${code}\`: ${PROBLEMS[code].title}`).join(". "),
        content: { [PROBLEM_MEDIA_TYPE]: { schema: book.schemaOf(ProblemSchema, "output") } },
      },
    ]),
  );
}

function impliedProblems({ params, query, headers, body, permission }: OperationSpec): readonly ProblemCode[] {
  const hasInput = [params, query, headers, body].some((part) => part !== undefined);
  return [
    ...(hasInput ? (["INVALID_REQUEST"] as const) : []),
    ...(body === undefined ? [] : (["MALFORMED_REQUEST", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE"] as const)),
    ...(permission === undefined ? [] : (["UNAUTHENTICATED", "FORBIDDEN", "TOO_MANY_REQUESTS"] as const)),
    "INTERNAL_ERROR",
  ];
}
