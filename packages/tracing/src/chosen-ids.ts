/**
 * Ids of spans: drawn at random, except where the next one has been reckoned. Whether such a one is recorded is decided
 * too: others who know its ids have been told.
 */
import { randomBytes } from "node:crypto";
import { type SpanContext, TraceFlags } from "@opentelemetry/api";
import type { IdGenerator } from "@opentelemetry/sdk-trace";

export type Ids = Pick<SpanContext, "traceId" | "spanId" | "traceFlags">;

let chosen: Ids | null = null;

/** `start` makes exactly one span, at once: it gets these ids. */
export function withIds<T>(ids: Ids | null, start: () => T): T {
  chosen = ids;
  try {
    return start();
  } finally {
    chosen = null;
  }
}

/** null = nothing has been decided. */
export const chosenSampled = (): boolean | null =>
  chosen === null ? null : (chosen.traceFlags & TraceFlags.SAMPLED) !== 0;

export const chosenIds: IdGenerator = {
  generateTraceId: () => chosen?.traceId ?? randomBytes(16).toString("hex"),
  generateSpanId: () => chosen?.spanId ?? randomBytes(8).toString("hex"),
};
