import { Agent, type Dispatcher } from "undici";

import { failure, type IoFault, type Outcome, success } from "../outcome.ts";
import { displayUrl } from "../secrets.ts";
import { guardedConnector, type Resolve, systemResolve } from "./connector.ts";
import type { BasicAuth, Credentials } from "./credentials.ts";
import { Deadline } from "./deadline.ts";
import { faultOfError, faultOfStatus } from "./fault.ts";
import { type EgressPolicy, PUBLIC_ONLY, refusalOfUrl } from "./policy.ts";
import { contentLengthOf, discard, type EgressResponse, makeResponse, tooLarge } from "./response.ts";

export interface EgressConfig {
  readonly policy?: EgressPolicy;
  readonly resolve?: Resolve;
  readonly ca?: string;
  /** Sent to the hosts that they belong to, for the profiles that they belong to, where a request brings none of its own. */
  readonly credentials?: Credentials;
  readonly userAgent?: string;
  readonly connectTimeoutMs?: number;
  /** Longest silence, before the headers and between two pieces of the body. */
  readonly idleTimeoutMs?: number;
  readonly totalTimeoutMs?: number;
  readonly maxResponseBytes?: number;
  readonly maxRedirects?: number;
  readonly connectionsPerHost?: number;
  readonly nowMs?: () => number;
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly basicAuth?: BasicAuth;
  /** The profile for whose deposit this is asked: only with it are configured credentials sent, and only those bound to it. */
  readonly profile?: string;
  readonly signal?: AbortSignal;
  readonly totalTimeoutMs?: number;
  readonly maxBytes?: number;
  /** Statuses that count as an answer; others become HTTP_STATUS. 2xx if not given. */
  readonly accepts?: (status: number) => boolean;
}

export interface PostOptions extends RequestOptions {
  readonly contentType: string;
  readonly body: string | Uint8Array;
  readonly method?: "POST" | "PUT";
}

/** The only way out: every request of the fleet passes here. */
export interface Egress {
  head(url: string, options?: RequestOptions): Promise<Outcome<EgressResponse>>;
  get(url: string, options?: RequestOptions): Promise<Outcome<EgressResponse>>;
  post(url: string, options: PostOptions): Promise<Outcome<EgressResponse>>;
  close(): Promise<void>;
}

type Method = "HEAD" | "GET" | "POST" | "PUT";

interface Request {
  readonly method: Method;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly options: RequestOptions;
}

export function createEgress(config: EgressConfig = {}): Egress {
  const client = new GuardedClient(config);
  return {
    head: (url, options = {}) => client.send({ method: "HEAD", url, headers: headersOf(options), options }),
    get: (url, options = {}) => client.send({ method: "GET", url, headers: headersOf(options), options }),
    post: (url, options) =>
      client.send({
        method: options.method ?? "POST",
        url,
        headers: { ...headersOf(options), "content-type": options.contentType },
        body: options.body,
        options,
      }),
    close: () => client.close(),
  };
}

function headersOf({ headers = {}, basicAuth }: RequestOptions): Record<string, string> {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  if (basicAuth === undefined) return lower;
  return { ...lower, authorization: basicHeader(basicAuth) };
}

const basicHeader = ({ user, password }: BasicAuth): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

class GuardedClient {
  readonly #agent: Agent;
  readonly #config: EgressConfig;
  readonly #idleMs: number;

  constructor(config: EgressConfig) {
    this.#config = config;
    this.#idleMs = config.idleTimeoutMs ?? 30_000;
    this.#agent = new Agent({
      connect: guardedConnector({
        policy: config.policy ?? PUBLIC_ONLY,
        resolve: config.resolve ?? systemResolve,
        connectTimeoutMs: config.connectTimeoutMs ?? 10_000,
        ...(config.ca === undefined ? {} : { ca: config.ca }),
      }),
      connections: config.connectionsPerHost ?? 8,
      headersTimeout: this.#idleMs,
      bodyTimeout: this.#idleMs,
    });
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async send(request: Request): Promise<Outcome<EgressResponse>> {
    const totalMs = request.options.totalTimeoutMs ?? this.#config.totalTimeoutMs ?? 600_000;
    const deadline = new Deadline(totalMs, request.options.signal);
    const result = await this.#follow(await this.#withCredentials(request), deadline);
    if (!result.ok || request.method === "HEAD") deadline.dispose();
    return result;
  }

  /** Once, for the host that was asked for: a redirect never earns any. */
  async #withCredentials(request: Request): Promise<Request> {
    const { profile } = request.options;
    if (profile === undefined || "authorization" in request.headers || !URL.canParse(request.url)) return request;
    const found = await this.#config.credentials?.(new URL(request.url), profile);
    if (found === undefined) return request;
    return { ...request, headers: { ...request.headers, authorization: basicHeader(found) } };
  }

  /** One hop after the other, each checked like the first. */
  async #follow(request: Request, deadline: Deadline): Promise<Outcome<EgressResponse>> {
    const hops = this.#config.maxRedirects ?? 5;
    let { url, headers } = request;
    for (let hop = 0; hop <= hops; hop += 1) {
      const target = URL.canParse(url) ? new URL(url) : undefined;
      const reason = target === undefined ? "it is no URL" : refusalOfUrl(target);
      if (target === undefined || reason !== undefined) return failure(refusedUrl(url, reason ?? ""));
      const answer = await this.#exchange({ ...request, headers }, target, deadline);
      if (!answer.ok) return answer;
      const location = redirectOf(request.method, answer.value);
      if (location === undefined) return this.#judge(request, answer.value, target, deadline);
      answer.value.body.on("error", () => undefined).destroy();
      url = URL.canParse(location, target.href) ? new URL(location, target.href).href : location;
      headers = sameOrigin(url, target) ? headers : withoutCredentials(headers);
    }
    return failure({
      code: "TOO_MANY_REDIRECTS",
      message: `${displayUrl(request.url)}: redirected more than ${hops} times`,
      retryable: false,
    });
  }

  async #exchange(request: Request, url: URL, deadline: Deadline): Promise<Outcome<Dispatcher.ResponseData>> {
    try {
      return success(
        await this.#agent.request({
          origin: url.origin,
          path: url.pathname + url.search,
          method: request.method,
          headers: {
            "user-agent": this.#config.userAgent ?? "sluice",
            "accept-encoding": "identity",
            ...request.headers,
          },
          body: request.body ?? null,
          signal: deadline.signal,
        }),
      );
    } catch (error) {
      const place = displayUrl(url);
      return failure(deadline.fault(place) ?? faultOfError(error, place));
    }
  }

  #judge(
    { method, options }: Request,
    answer: Dispatcher.ResponseData,
    url: URL,
    deadline: Deadline,
  ): Outcome<EgressResponse> {
    const headers = headerMap(answer.headers);
    const place = displayUrl(url);
    const limit = options.maxBytes ?? this.#config.maxResponseBytes ?? Number.MAX_SAFE_INTEGER;
    const maxBytes = method === "HEAD" ? Number.MAX_SAFE_INTEGER : limit; // The size of a file, not of this answer.
    const fault = this.#faultOf(answer.statusCode, headers, place, maxBytes, options);
    if (fault === undefined) {
      // Nothing comes, but the stream must have ended before its connection is used again.
      if (method === "HEAD") answer.body.on("error", () => undefined).resume();
      return success(
        makeResponse({ status: answer.statusCode, headers, place, stream: answer.body, maxBytes, deadline }),
      );
    }
    discard({ stream: answer.body, deadline });
    return failure(fault);
  }

  #faultOf(
    status: number,
    headers: ReadonlyMap<string, string>,
    place: string,
    maxBytes: number,
    { accepts = isSuccess }: RequestOptions,
  ): IoFault | undefined {
    if (!accepts(status)) {
      return faultOfStatus(status, place, headers.get("retry-after"), (this.#config.nowMs ?? Date.now)());
    }
    return (contentLengthOf(headers) ?? 0) > maxBytes ? tooLarge(place, maxBytes) : undefined;
  }
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function headerMap(headers: Dispatcher.ResponseData["headers"]): ReadonlyMap<string, string> {
  const pairs = Object.entries(headers).map(
    ([name, value]) => [name, Array.isArray(value) ? value[0] : value] as const,
  );
  return new Map(pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined));
}

/** A body is sent again only where the status asks for exactly that. */
function redirectOf(method: Method, { statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  const follows = method === "GET" || method === "HEAD" ? [301, 302, 303, 307, 308] : [307, 308];
  const { location } = headers;
  return follows.includes(statusCode) && typeof location === "string" ? location : undefined;
}

const sameOrigin = (url: string, other: URL): boolean => URL.canParse(url) && new URL(url).origin === other.origin;

const withoutCredentials = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name !== "authorization" && name !== "cookie"));

const refusedUrl = (url: string, reason: string): IoFault => ({
  code: "EGRESS_REFUSED",
  message: `${displayUrl(url)} is not asked: ${reason}`,
  retryable: false,
});
