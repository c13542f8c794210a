/**
 * The general job queue has an API of its own. The console speaks to one server only, so that server passes on what is asked
 * under /v1/queue/, in the caller's own name: who may do what is decided there, once.
 */
import { credentialsOf, named, type Problem, problem, requestIdOf, sendProblem } from "@sluice/http-api";
import type { Request, RequestHandler, Response } from "express";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

export const QUEUE_PREFIX = "/v1/queue";

export interface ForwardOptions {
  /** null: there is none. */
  readonly baseUrl: string | null;
  readonly onAnswered: (status: number) => void;
  /** For a whole exchange; whoever waits for a job waits less than two minutes. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 120_000;
/** A CreateJobs of ten thousand, with room. */
const BODY_BYTES = 8 * 1024 * 1024;
/** What of a request concerns who answers it; cookies are ours alone. */
const SENT = ["accept", "content-type", "idempotency-key", "traceparent"] as const;
/** Everything else about the connection and the page is ours to say. */
const PASSED_ON = ["content-type", "content-disposition", "etag", "job-status", "link", "location", "retry-after"];

const NO_QUEUE = problem(
  "UNAVAILABLE",
  "this admin knows no job queue: set JOB_API_URL to where a job-api listens, such as http://127.0.0.1:8082",
  { retryAfterSeconds: 60 },
);
const NO_ANSWER = problem("UNAVAILABLE", "the job queue does not answer just now", { retryAfterSeconds: 5 });
const TOO_LARGE = problem("PAYLOAD_TOO_LARGE", `at most ${BODY_BYTES} bytes are passed on to the job queue`);

export function forwardToQueue(options: ForwardOptions): RequestHandler {
  const { baseUrl, onAnswered, timeoutMs = TIMEOUT_MS } = options;
  return named("forwardToQueue", async (request, response) => {
    response.once("finish", () => onAnswered(response.statusCode));
    if (baseUrl === null) {
      sendProblem(response, NO_QUEUE);
      return;
    }
    const body = hasBody(request) ? new BoundedBody(request) : null;
    const over = new AbortController();
    const timer = setTimeout(() => over.abort(), timeoutMs);
    response.once("close", () => over.abort());
    try {
      const answer = await fetch(targetOf(baseUrl, request), {
        method: request.method,
        headers: headersOf(request, response),
        redirect: "error",
        signal: over.signal,
        ...(body === null ? {} : { body: Readable.toWeb(body.stream), duplex: "half" }),
      });
      await passOn(answer, response);
    } catch {
      giveUp(response, body?.isTooLarge === true ? TOO_LARGE : NO_ANSWER);
    } finally {
      clearTimeout(timer);
    }
  });
}

/** The path is the caller's, but only below /v1/: dots in it are taken out by the URL before it is looked at. */
function targetOf(baseUrl: string, request: Request): string {
  const url = new URL(`${baseUrl}/v1${request.url}`);
  if (!url.pathname.startsWith("/v1/")) url.pathname = "/v1/";
  return url.href;
}

function headersOf(request: Request, response: Response): Record<string, string> {
  const credentials = credentialsOf(response);
  const headers: Record<string, string> = { "x-request-id": requestIdOf(response), "accept-encoding": "identity" };
  if (credentials !== undefined) headers["authorization"] = credentials;
  for (const name of SENT) {
    const value = request.get(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

const hasBody = (request: Request): boolean =>
  request.get("transfer-encoding") !== undefined || Number(request.get("content-length") ?? 0) > 0;

/** What came to be too long breaks off; who reads it elsewhere hears of that as of a broken line, so it is noted here. */
class BoundedBody {
  isTooLarge = false;
  readonly stream: Readable;

  constructor(request: Request) {
    this.stream = Readable.from(this.#pieces(request), { objectMode: false });
  }

  async *#pieces(request: Request): AsyncGenerator<Buffer> {
    let bytes = 0;
    for await (const piece of request as AsyncIterable<Buffer>) {
      bytes += piece.length;
      this.isTooLarge = bytes > BODY_BYTES;
      if (this.isTooLarge) throw new Error("too large");
      yield piece;
    }
  }
}

async function passOn(answer: globalThis.Response, response: Response): Promise<void> {
  response.status(answer.status);
  for (const name of PASSED_ON) {
    const value = answer.headers.get(name);
    if (value !== null) response.set(name, name === "link" || name === "location" ? oursIn(value) : value);
  }
  if (answer.body === null) response.end();
  else await pipeline(Readable.fromWeb(answer.body), response);
}

/** Addresses of the queue's API as they are here. */
const oursIn = (value: string): string => value.replaceAll(/(^|<)\/v1\//g, `$1${QUEUE_PREFIX}/`);

function giveUp(response: Response, found: Problem): void {
  if (response.destroyed || response.headersSent) {
    response.destroy();
    return;
  }
  // What is left of the request is not read.
  response.set("Connection", "close");
  sendProblem(response, found);
}
