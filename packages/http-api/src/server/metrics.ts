/** What the limits of a server did, the same for every HTTP API. */
import type { Guarded } from "./guard.ts";

// prettier-ignore
export const HTTP_METRICS = {
  refusedConnections: { type: "counter", name: "sluice_http_connections_refused_total", labels: ["reason"], exportedBy: "every process", help: "Connections refused, by limit: address (CONNECTIONS_PER_ADDRESS), process (CONNECTIONS_MAX)" },
  stalledBodies:      { type: "counter", name: "sluice_http_bodies_stalled_total",      labels: [],         exportedBy: "every process", help: "Requests ended because their body stopped or came too slowly (BODY_STALL_MS)" },
} as const;

interface Counters {
  readonly refusedConnections: { inc(labels: { readonly reason: string }): void };
  readonly stalledBodies: { inc(): void };
}

export const countRefusals =
  ({ refusedConnections, stalledBodies }: Counters) =>
  (why: Guarded): void => {
    if (why === "stalled") stalledBodies.inc();
    else refusedConnections.inc({ reason: why });
  };
