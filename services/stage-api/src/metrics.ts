import { HTTP_METRICS } from "@sluice/http-api";
import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";

export { HTTP_METRICS };

// prettier-ignore
export const STAGE_API_METRICS = {
  requests:  { type: "counter", name: "sluice_stage_api_requests_total",                labels: ["operation", "status"], help: "Requests answered, by endpoint and status" },
  refused:   { type: "counter", name: "sluice_stage_api_refused_authentications_total", labels: [],                      help: "Requests with a token or JWT that was not accepted" },
  workers:   { type: "gauge",   name: "sluice_stage_api_workers",                       labels: ["stage"],               help: "Workers elsewhere that this process claims for" },
  claims:    { type: "gauge",   name: "sluice_stage_api_claims",                        labels: ["stage"],               help: "Claims that callers hold" },
  takes:     { type: "gauge",   name: "sluice_stage_api_waiting_takes",                 labels: ["stage"],               help: "Callers that wait for a job" },
  expired:   { type: "counter", name: "sluice_stage_api_leases_expired_total",          labels: ["stage"],               help: "Claims whose caller was not heard of for so long as its lease: the job is offered again, with the attempt counted" },
  late:      { type: "counter", name: "sluice_stage_api_late_calls_total",              labels: ["stage"],               help: "Calls about claims that no longer count" },
  unclaimed: { type: "counter", name: "sluice_stage_api_unclaimed_total",               labels: ["stage"],               help: "Jobs handed back, uncounted, because their caller had hung up before it was told" },
  forwarded: { type: "counter", name: "sluice_stage_api_forwarded_total",               labels: ["outcome"],             help: "Calls passed on to the stage-api that has the worker or the claim, by outcome: answered, no-answer" },
} as const satisfies Record<string, MetricSpec>;

export type StageApiMetrics = ReturnType<typeof stageApiMetrics>;

export const stageApiMetrics = (registry: Registry) => makeInstruments(STAGE_API_METRICS, registry);
