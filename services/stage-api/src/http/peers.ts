/** The other stage-apis: what is theirs is passed on to them, in the caller's own name. */
import { credentialsOf, requestIdOf } from "@sluice/http-api";
import { paths, records } from "@sluice/queue-core";
import type { ServiceParts } from "@sluice/stage-runtime";
import type { Request, Response } from "express";
import type { StageApiMetrics } from "../metrics.ts";

/** A request that was passed on once is answered where it is. */
const PASSED_ON_BY = "sluice-passed-on-by";
/** Beyond the longest wait for a job. */
const PATIENCE_MS = 75_000;
const SENT = ["content-type", "idempotency-key", "traceparent"] as const;
const GIVEN_BACK = ["content-type", "retry-after"] as const;

export interface PeersParts {
  readonly service: Pick<ServiceParts, "actor" | "queue">;
  readonly metrics: Pick<StageApiMetrics, "forwarded">;
}

export class Peers {
  readonly #parts: PeersParts;

  constructor(parts: PeersParts) {
    this.#parts = parts;
  }

  wasPassedOn(request: Request): boolean {
    return request.get(PASSED_ON_BY) !== undefined;
  }

  /** False: it does not answer, and nothing has been answered here. */
  async passOn(holder: string, request: Request, response: Response): Promise<boolean> {
    const url = await this.#urlOf(holder);
    const answer = url === null ? null : await this.#ask(url, request, response);
    this.#parts.metrics.forwarded.inc({ outcome: answer === null ? "no-answer" : "answered" });
    if (answer === null) return false;
    response.status(answer.status);
    for (const name of GIVEN_BACK) {
      const value = answer.headers.get(name);
      if (value !== null) response.set(name, value);
    }
    response.send(answer.body);
    return true;
  }

  async #urlOf(holder: string): Promise<string | null> {
    const { queue, actor } = this.#parts.service;
    const node = await queue()?.context.session.get(paths.worker(actor.stage, holder));
    if (node?.ok !== true) return null;
    const record = records.worker.decode(node.value.data);
    return record.ok ? (record.value.url ?? null) : null;
  }

  async #ask(
    base: string,
    request: Request,
    response: Response,
  ): Promise<{ readonly status: number; readonly headers: Headers; readonly body: string } | null> {
    const over = new AbortController();
    const hangUp = (): void => over.abort();
    const timer = setTimeout(hangUp, PATIENCE_MS);
    response.once("close", hangUp);
    try {
      const answer = await fetch(new URL(request.originalUrl, base), {
        method: request.method,
        headers: this.#headersOf(request, response),
        redirect: "error",
        signal: over.signal,
        ...(request.method === "GET" ? {} : { body: JSON.stringify(request.body) }),
      });
      return { status: answer.status, headers: answer.headers, body: await answer.text() };
    } catch {
      return null;
    } finally {
      clearTimeout(timer);
      response.off("close", hangUp);
    }
  }

  #headersOf(request: Request, response: Response): Record<string, string> {
    const credentials = credentialsOf(response);
    const headers: Record<string, string> = {
      "x-request-id": requestIdOf(response),
      [PASSED_ON_BY]: this.#parts.service.actor.worker,
      ...(credentials === undefined ? {} : { authorization: credentials }),
    };
    for (const name of SENT) {
      const value = request.get(name);
      if (value !== undefined) headers[name] = value;
    }
    return headers;
  }
}
