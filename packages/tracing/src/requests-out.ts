/** A span for each request that undici sends within another span, and the header that lets the other side join in. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Span } from "@opentelemetry/api";
import { activeSpan, currentTrace, startSpan } from "./spans.ts";
import { printTraceparent } from "./traceparent.ts";

/** What undici's channels hand out, as far as it is used here. */
interface SentRequest {
  readonly origin: string | URL;
  readonly path: string;
  readonly method: string;
  addHeader(name: string, value: string): unknown;
}
interface Message {
  readonly request: SentRequest;
  readonly response?: { readonly statusCode: number };
  readonly error?: Error;
}

/** Query strings are left out: those of signed addresses are passwords. */
const addressOf = ({ origin, path }: SentRequest): string => `${String(origin)}${path.split(/[?#]/, 1)[0] ?? ""}`;

export function traceRequestsOut(): () => void {
  const underWay = new WeakMap<SentRequest, Span>();
  const on = {
    "undici:request:create": ({ request }: Message) => {
      if (currentTrace() === null) return;
      const { span } = startSpan({
        name: request.method,
        kind: "client",
        attributes: { "http.request.method": request.method, "url.full": addressOf(request) },
      });
      underWay.set(request, span);
      request.addHeader("traceparent", printTraceparent(span.spanContext()));
    },
    "undici:request:headers": ({ request, response }: Message) => {
      const status = response?.statusCode ?? 0;
      const span = underWay.get(request);
      span?.setAttribute("http.response.status_code", status);
      if (span !== undefined && status >= 400) activeSpan(span).failed(`HTTP ${status}`);
    },
    "undici:request:trailers": ({ request }: Message) => underWay.get(request)?.end(),
    "undici:request:error": ({ request, error }: Message) => {
      const span = underWay.get(request);
      if (span === undefined) return;
      activeSpan(span).failed(error?.message ?? "failed");
      span.end();
    },
  };
  const listeners = Object.entries(on).map(
    ([channel, listen]) => [channel, (message: unknown) => listen(message as Message)] as const,
  );
  for (const [channel, listener] of listeners) subscribe(channel, listener);
  return () => {
    for (const [channel, listener] of listeners) unsubscribe(channel, listener);
  };
}
