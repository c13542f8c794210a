import type { MetricSpec } from "@sluice/stage-runtime";

export { HTTP_METRICS } from "@sluice/http-api";

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 3, 10];

// prettier-ignore
export const ADMIN_METRICS = {
  requests:   { type: "counter",   name: "sluice_admin_requests_total",                labels: ["operation", "status"], exportedBy: "every process", help: "Requests answered, by endpoint and status" },
  duration:   { type: "histogram", name: "sluice_admin_request_duration_seconds",      labels: ["operation"],           exportedBy: "every process", help: "From a request to its answer, streams left out", buckets: SECONDS },
  refused:    { type: "counter",   name: "sluice_admin_refused_authentications_total", labels: [],                      exportedBy: "every process", help: "Requests with a token or JWT that was not accepted" },
  changes:    { type: "counter",   name: "sluice_admin_changes_total",                 labels: ["action", "result"],    exportedBy: "every process", help: "Operators' actions, by result: applied, refused, conflict, not-found, lost" },
  streams:    { type: "gauge",     name: "sluice_admin_event_streams",                 labels: [],                      exportedBy: "every process", help: "Listeners to server-sent events" },
  operations: { type: "counter",   name: "sluice_admin_operations_total",              labels: ["state"],               exportedBy: "every process", help: "Bulk operations, by what became of them: done, stopped, failed; or resumed after the process that had them was gone" },
} as const satisfies Record<string, MetricSpec>;
