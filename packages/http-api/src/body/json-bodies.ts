/** JSON bodies, within their limits of bytes, values and depth. */
import { json, type Request, type RequestHandler, type Response } from "express";

import { type Problem, problem } from "../problem.ts";
import { turnAway } from "../wall/turn-away.ts";
import { type JsonExcess, type JsonLimits, JsonScanner } from "./json-scanner.ts";

export const JSON_BYTES_DEFAULT = 1_000_000;
/** What a body of any API may hold, unless its operation says otherwise. */
export const JSON_VALUES_MAX = 500_000;
export const JSON_DEPTH_MAX = 120;

/** A member of the body by which a caller can be refused before the rest is read. */
export interface FirstMember {
  readonly name: string;
  /** In a body larger than this it comes within as many bytes. */
  readonly withinBytes: number;
  readonly refuses: (value: string, response: Response) => Problem | null;
}

export interface JsonBodyOptions {
  readonly limitBytes?: number;
  readonly maxValues?: number;
  readonly first?: FirstMember;
}

const TYPES = ["application/json", "application/*+json"];

/** Without a JSON content type the body stays undefined. */
export function jsonBodies(
  limitBytes = JSON_BYTES_DEFAULT,
  options: Omit<JsonBodyOptions, "limitBytes"> = {},
): RequestHandler {
  const limits: JsonLimits = { maxValues: options.maxValues ?? JSON_VALUES_MAX, maxDepth: JSON_DEPTH_MAX };
  const { first } = options;
  const whole = json({
    limit: limitBytes,
    strict: true,
    inflate: false,
    type: TYPES,
    verify: (_request, _response, body) => refuseExcess(new JsonScanner(limits).scan(body), limits),
  });
  if (first === undefined) return whole;
  return async (request, response, next) => {
    if (isPlainJson(request)) await readWithFirst(request, response, next, { limitBytes, limits, first });
    else whole(request, response, next);
  };
}

/** Others are refused by the usual parser, in its own words. */
const isPlainJson = (request: Request): boolean =>
  request.is(TYPES) !== false &&
  request.is(TYPES) !== null &&
  (request.get("content-encoding") ?? "identity") === "identity" &&
  /^[^;]*(?:;\s*charset="?utf-8"?)?$/i.test(request.get("content-type") ?? "");

/** Known to the error handler by its type. */
function refuseExcess(excess: JsonExcess | null, limits: JsonLimits): void {
  if (excess !== null)
    throw Object.assign(new Error(excess), { type: "entity.excess", problem: excessProblem(excess, limits) });
}

const excessProblem = (excess: JsonExcess, { maxValues, maxDepth }: JsonLimits): Problem =>
  excess === "values"
    ? problem("PAYLOAD_TOO_LARGE", `the body has more than ${maxValues} values`)
    : problem("MALFORMED_REQUEST", `the body is nested more than ${maxDepth} levels deep`);

interface Reading {
  readonly limitBytes: number;
  readonly limits: JsonLimits;
  readonly first: FirstMember;
}

async function readWithFirst(
  request: Request,
  response: Response,
  next: (error?: unknown) => void,
  reading: Reading,
): Promise<void> {
  const read = await readChunks(request, response, reading);
  if ("problem" in read) turnAway(request, response, read.problem);
  else if ("error" in read) next(read.error);
  else {
    request.body = read.value;
    next();
  }
}

type Read = { readonly problem: Problem } | { readonly error: unknown } | { readonly value: unknown };

async function readChunks(request: Request, response: Response, { limitBytes, limits, first }: Reading): Promise<Read> {
  const tooLarge = { problem: problem("PAYLOAD_TOO_LARGE", `the body has more than ${limitBytes} bytes`) };
  const length = Number(request.get("content-length") ?? 0);
  if (length > limitBytes) return tooLarge;
  const scanner = new JsonScanner(limits, first.name);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let asked: string | null = null;
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > limitBytes) return tooLarge;
      const excess = scanner.scan(chunk);
      if (excess !== null) return { problem: excessProblem(excess, limits) };
      const { found } = scanner;
      const refused = found === null || found === asked ? null : first.refuses(found, response);
      if (refused !== null) return { problem: refused };
      if (found === null && bytes > first.withinBytes) return { problem: comesFirst(first) };
      asked = found;
      chunks.push(chunk);
    }
    if (!request.complete) return { error: aborted() };
    return parsed(Buffer.concat(chunks));
  } catch (error) {
    return { error: request.complete ? error : aborted() };
  }
}

const comesFirst = ({ name, withinBytes }: FirstMember): Problem =>
  problem("PAYLOAD_TOO_LARGE", `in a body larger than ${withinBytes} bytes, ${name} must come first`);

const aborted = (): Error => Object.assign(new Error("the body ended too early"), { type: "request.aborted" });

/** As the usual parser: an object or a list, or nothing at all. */
function parsed(body: Buffer): Read {
  if (body.length === 0) return { value: {} };
  try {
    const value: unknown = JSON.parse(body.toString("utf8"));
    if (typeof value === "object" && value !== null) return { value };
  } catch {
    // Said below, as for what is no object.
  }
  return { problem: problem("MALFORMED_REQUEST", "the body is not valid JSON") };
}
