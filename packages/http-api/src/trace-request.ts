/** A span for each request, in the caller's trace where it names one. */
import { activeSpan, parseTraceparent, startSpan, within } from "@sluice/tracing";
import type { RequestHandler } from "express";
import type { OperationSpec } from "./operation.ts";

export const traceRequest =
  ({ id, method, path }: Pick<OperationSpec, "id" | "method" | "path">): RequestHandler =>
  (request, response, next) => {
    const { span, context } = startSpan({
      name: `${method.toUpperCase()} ${path}`,
      kind: "server",
      parent: parseTraceparent(request.get("traceparent")),
      attributes: { "http.request.method": request.method, "http.route": path, "sluice.operation": id },
    });
    response.once("close", () => {
      span.setAttribute("http.response.status_code", response.statusCode);
      if (response.statusCode >= 500) activeSpan(span).failed(`HTTP ${response.statusCode}`);
      span.end();
    });
    within(context, next);
  };
