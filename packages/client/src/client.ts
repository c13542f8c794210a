/** Typed calls, made from the table of endpoints: a path's parameters, query, body and answer are checked by the compiler. */
import type { AnswerOf, BodyOf, Endpoint, ParamsOf, QueryOf } from "@sluice/wire";
import { type Answer, readAnswer } from "./answer.ts";
import { type EventsOf, readEvents } from "./events.ts";

export interface ClientOptions {
  /** Where the service is, without /v1; "" in a browser that got its page from there. */
  readonly baseUrl: string;
  /** A bearer token, or what reads the present one; without it, whatever the browser's cookies say. */
  readonly token?: string | (() => string);
  readonly fetch?: typeof fetch;
  /** For a whole call that is no stream. */
  readonly timeoutMs?: number;
}

type Optional<K extends string, T> = undefined extends T ? Readonly<Partial<Record<K, T>>> : Readonly<Record<K, T>>;
export type CallInput<E> = Optional<"params", ParamsOf<E>> &
  Readonly<{ query?: QueryOf<E> }> &
  Optional<"body", BodyOf<E>> & { readonly signal?: AbortSignal; readonly idempotencyKey?: string };

export interface Client {
  call<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Answer<AnswerOf<E>>>;
  /** Values as they come; comes back by itself after a break, until the service says that it is over. */
  events<E extends Endpoint>(endpoint: E, input: CallInput<E>): EventsOf<AnswerOf<E>>;
  /** The answer as it comes, for files. */
  download<E extends Endpoint>(endpoint: E, input: CallInput<E>): Promise<Answer<Response>>;
}

const TIMEOUT_MS = 60_000;

type Word = string | number | boolean | undefined;

interface Parts {
  readonly params?: Readonly<Record<string, Word>>;
  readonly query?: Readonly<Record<string, Word>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string;
}

export function makeClient(options: ClientOptions): Client {
  const send = async (endpoint: Endpoint, input: Parts, extra: RequestInit): Promise<Response | string> => {
    const url = urlOf(options.baseUrl, endpoint, input);
    try {
      return await (options.fetch ?? fetch)(url, { ...requestOf(options, endpoint, input), ...extra });
    } catch (error) {
      return `${url} cannot be reached: ${reasonOf(error)}`;
    }
  };
  const partsOf = (input: unknown): Parts => input as Parts;
  return {
    async call(endpoint, given) {
      const input = partsOf(given);
      const deadline = AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS);
      const signal = input.signal === undefined ? deadline : AbortSignal.any([deadline, input.signal]);
      const response = await send(endpoint, input, { signal });
      return typeof response === "string"
        ? { ok: false, kind: "unreachable", why: response }
        : await readAnswer(response);
    },
    events: (endpoint, given) => {
      const input = partsOf(given);
      return readEvents((headers, signal) => {
        const parts = requestOf(options, endpoint, input);
        return send(endpoint, input, { signal, headers: { ...parts.headers, ...headers } });
      }, input.signal);
    },
    async download(endpoint, given) {
      const input = partsOf(given);
      const response = await send(endpoint, input, input.signal === undefined ? {} : { signal: input.signal });
      if (typeof response === "string") return { ok: false, kind: "unreachable", why: response };
      return response.ok ? { ok: true, value: response, status: response.status } : await readAnswer(response);
    },
  };
}

/** /v1/batches/{id} with its parameters and query filled in. */
export function urlOf(baseUrl: string, { path }: Pick<Endpoint, "path">, { params, query }: Parts): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params?.[name] ?? "")));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== undefined && value !== "") search.set(name, String(value));
  const tail = search.size === 0 ? "" : `?${search.toString()}`;
  return `${baseUrl.replace(/(?<!\/)\/+$/, "")}${filled}${tail}`;
}

function requestOf({ token }: ClientOptions, { method }: Pick<Endpoint, "method">, input: Parts) {
  const headers: Record<string, string> = { accept: "application/json" };
  if (token !== undefined) headers["authorization"] = `Bearer ${typeof token === "function" ? token() : token}`;
  if (input.idempotencyKey !== undefined) headers["idempotency-key"] = input.idempotencyKey;
  if (input.body !== undefined) headers["content-type"] = "application/json";
  return {
    method: method.toUpperCase(),
    headers,
    redirect: "error" as const,
    ...(input.body === undefined ? {} : { body: JSON.stringify(input.body) }),
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return "no answer in time";
  const cause: unknown = error.cause;
  return cause instanceof Error && cause.message !== "" ? cause.message : error.message;
}
