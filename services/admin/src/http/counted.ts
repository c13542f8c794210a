import type { Operation } from "@sluice/http-api";
import type { Instruments } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import type { RequestHandler } from "express";
import type { ADMIN_METRICS } from "../metrics.ts";

type Metrics = Pick<Instruments<typeof ADMIN_METRICS>, "requests" | "duration">;

/** Counts what an operation answers, and how long that takes; a stream lasts as long as its listener. */
export function counted({ spec, handlers }: Operation, { requests, duration }: Metrics, clock: Clock): Operation {
  const isStream = Object.values(spec.responses).some(({ content }) => content?.["text/event-stream"] !== undefined);
  const count: RequestHandler = (_request, response, next) => {
    const startedMs = clock.monotonicMs();
    response.on("finish", () => {
      requests.inc({ operation: spec.id, status: String(response.statusCode) });
      if (!isStream) duration.observe({ operation: spec.id }, (clock.monotonicMs() - startedMs) / 1_000);
    });
    next();
  };
  return { spec, handlers: [count, ...handlers] };
}
