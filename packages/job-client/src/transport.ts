/**
 * Requests to any of several job-apis. What was certainly not sent goes to the next one. What was sent and not answered is
 * asked again only if asking twice does no harm; otherwise the caller is told that nobody knows.
 */
import { type CallInput, pause, readAnswer, urlOf } from "@sluice/client";
import type { AnswerOf, Endpoint } from "@sluice/wire";
import { Agent, fetch as fetchOf } from "undici";
import { type Failure, failureText, type Outcome } from "./outcome.ts";

export interface TransportOptions {
  /** Of one or several job-apis, without /v1. */
  readonly urls: readonly [string, ...string[]];
  /** A bearer token, or who knows the present one. */
  readonly token?: string | (() => string);
  /** For an answer, besides the time that the request itself asks to wait. */
  readonly timeoutMs?: number;
}

export interface How {
  /** Asking twice does no harm. A GET never does. */
  readonly repeatable?: boolean;
  /** How long the other side may wait by itself before it answers. */
  readonly waitMs?: number;
  /** For an answer of one address, if it is not the usual time. */
  readonly timeoutMs?: number;
}

export interface Transport {
  ask<E extends Endpoint>(endpoint: E, input: CallInput<E>, how?: How): Promise<Outcome<AnswerOf<E>>>;
  close(): Promise<void>;
}

interface Request extends How {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly signal: AbortSignal | undefined;
}

const TIMEOUT_MS = 15_000;
const CONNECT_MS = 3_000;
/** Each of the addresses is tried so often; between the rounds there is a pause. */
const ROUNDS = 3;
const PAUSE_MS = 200;

/** There was no connection: nobody has seen the request. */
const NOT_SENT = new Set([
  ...["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  "UND_ERR_CONNECT_TIMEOUT",
]);
/** The words of a job-api that asked the owner of the shard and got no certain answer. */
const STATUS_HEADER = "job-status";
const UNKNOWN_STATUS = "503 Not known";

/** It is there, and cannot serve now: it has done nothing, and another may be able to. */
const AWAY = 503;

type Parts = Parameters<typeof urlOf>[2];

export function openTransport(options: TransportOptions): Transport {
  const agent = new Agent({
    connect: { timeout: CONNECT_MS },
    keepAliveTimeout: 60_000,
    // Our own deadline counts: a request may wait for minutes for its first byte.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const urls = options.urls.map((url) => url.replace(/(?<!\/)\/+$/, ""));
  /** The one that answered last is asked first. */
  let preferred = 0;

  async function tryAt<T>(url: string, request: Request): Promise<Outcome<T>> {
    const timeoutMs = request.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS;
    const deadline = AbortSignal.timeout(timeoutMs + (request.waitMs ?? 0));
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    let response;
    try {
      response = await fetchOf(`${url}${request.path}`, { ...requestOf(options, request), dispatcher: agent, signal });
    } catch (error) {
      const { code, text } = reasonOf(error);
      const why = `${url}${request.path}: ${text}`;
      return { ok: false, kind: NOT_SENT.has(code) ? "unreachable" : "unknown", why };
    }
    const status = response.headers.get(STATUS_HEADER) ?? "";
    const answer = await readAnswer<T>(response);
    if (!answer.ok && answer.kind === "unreachable") return { ok: false, kind: "unknown", why: answer.why };
    return status.startsWith(UNKNOWN_STATUS) ? { ok: false, kind: "unknown", why: `${url}: ${status}` } : answer;
  }

  async function send<T>(request: Request): Promise<Outcome<T>> {
    /** An earlier try may have done it. */
    let doubt: string | null = null;
    let last: Failure = { ok: false, kind: "unreachable", why: "nobody was asked" };
    for (let round = 0; round < ROUNDS; round++) {
      if (round > 0) await pause(PAUSE_MS * 2 ** (round - 1), request.signal);
      for (let i = 0; i < urls.length; i++) {
        if (request.signal?.aborted === true) break;
        const at = (preferred + i) % urls.length;
        const tried = await tryAt<T>(urls[at] ?? "", request);
        if (tried.ok || (tried.kind === "refused" && tried.refusal.status !== AWAY)) {
          preferred = at;
          return tried.ok || doubt === null ? tried : doubtful(doubt, tried);
        }
        if (tried.kind === "unknown" && request.repeatable !== true) return tried;
        if (tried.kind === "unknown") doubt = tried.why;
        last = tried;
      }
      // How long to wait while nobody is there is the caller's to choose: a write is not held back here.
      if (request.repeatable !== true || request.signal?.aborted === true) break;
    }
    return doubt === null ? last : doubtful(doubt, last);
  }

  return {
    ask: (endpoint, input, { repeatable = endpoint.method === "get", ...how } = {}) => {
      const { body, signal, ...parts } = input as Parts;
      const path = urlOf("", endpoint, parts);
      return send({ method: endpoint.method.toUpperCase(), path, body, signal, repeatable, ...how });
    },
    close: () => agent.close(),
  };
}

function doubtful(doubt: string, last: Failure): Outcome<never> {
  const text = failureText(last);
  return { ok: false, kind: "unknown", why: doubt === text ? doubt : `${doubt}; asked again: ${text}` };
}

function requestOf({ token }: TransportOptions, { method, body }: Request) {
  const bearer = typeof token === "function" ? token() : token;
  return {
    method,
    // A token goes to the host that it was meant for.
    redirect: "error" as const,
    headers: {
      accept: "application/json",
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

function reasonOf(error: unknown): { readonly code: string; readonly text: string } {
  if (!isFault(error)) return { code: "", text: String(error) };
  if (error.name === "TimeoutError") return { code: "", text: "no answer in time" };
  // What happened on the wire is the cause of a fetch that failed.
  const { code = "", message = "" } = isFault(error.cause) ? error.cause : error;
  return { code: String(code), text: message === "" ? String(code) : message };
}

interface Fault {
  readonly name?: string;
  readonly message?: string;
  readonly code?: string | number;
  readonly cause?: unknown;
}
const isFault = (value: unknown): value is Fault => typeof value === "object" && value !== null;
