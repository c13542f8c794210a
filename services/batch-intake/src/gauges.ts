import type { StreamChange } from "@sluice/http-api";
import { makeInstruments, type MetricSpec, type ServiceParts } from "@sluice/stage-runtime";

// prettier-ignore
export const STREAM_METRICS = {
  streams:    { type: "gauge",   name: "sluice_event_streams",                   labels: [],         exportedBy: "each worker", help: "Listeners to server-sent events" },
  turnedAway: { type: "counter", name: "sluice_event_streams_turned_away_total", labels: ["reason"], exportedBy: "each worker", help: "Listeners turned away, by reason: refused (too many, or stopping), cut (did not read what was sent)" },
} as const satisfies Record<string, MetricSpec>;

export function countStreams(registry: ServiceParts["registry"]): (change: StreamChange) => void {
  const { streams, turnedAway } = makeInstruments(STREAM_METRICS, registry);
  return (change) => {
    if (change === "opened") streams.inc();
    else if (change === "closed") streams.dec();
    else turnedAway.inc({ reason: change });
  };
}
