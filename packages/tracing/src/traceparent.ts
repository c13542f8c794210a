/**
 * The W3C header that carries a trace from one process to the next, as text: through HTTP, and through the tree in the
 * data of batches and jobs.
 */
import { createHash } from "node:crypto";
import { isSpanContextValid, type SpanContext, TraceFlags } from "@opentelemetry/api";

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** null: there is none, or none that can be read. Whoever sent it is a stranger: nothing else is taken from it. */
export function parseTraceparent(raw: unknown): SpanContext | null {
  const [, traceId, spanId, flags] = typeof raw === "string" ? (TRACEPARENT.exec(raw) ?? []) : [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  const context = { traceId, spanId, traceFlags: parseInt(flags, 16) & TraceFlags.SAMPLED, isRemote: true };
  return isSpanContextValid(context) ? context : null;
}

export const printTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;

/** A trace that nobody records yet: logs are still found by it. */
export const newTraceparent = (randomBytes: (size: number) => Buffer): string =>
  printTraceparent({
    traceId: randomBytes(16).toString("hex"),
    spanId: randomBytes(8).toString("hex"),
    traceFlags: TraceFlags.NONE,
  });

/**
 * Ids that are reckoned, not drawn: an expansion that is done again after a crash gives a row the same trace, and an
 * attempt can name the one before it, which ran somewhere else.
 */
const reckoned = (bytes: number, ...parts: readonly (string | number)[]): string =>
  createHash("sha256")
    .update(parts.join("\n"))
    .digest("hex")
    .slice(0, bytes * 2);

/** The trace of a batch's nth job: a trace of its own, so that a batch of a million does not become one trace. */
export function jobTraceparent(batch: string, row: number): string | null {
  const context = parseTraceparent(batch);
  if (context === null) return null;
  const traceId = reckoned(16, "job", context.traceId, context.spanId, row);
  return printTraceparent({ traceId, spanId: reckoned(8, "job", traceId), traceFlags: context.traceFlags });
}

/** The span of the attempt that holds this claim: tokens begin anew with every epoch. */
export function attemptContext(
  job: SpanContext,
  claim: { readonly epoch: number; readonly token: number },
): SpanContext {
  return { ...job, spanId: reckoned(8, "attempt", job.traceId, claim.epoch, claim.token) };
}
