/** Spans as the fleet makes them. Without a recorder they cost next to nothing, and still carry the trace along. */
import {
  type Attributes,
  context,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { type Ids, withIds } from "./chosen-ids.ts";
import { printTraceparent } from "./traceparent.ts";

export const SPAN_KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export interface SpanRequest {
  readonly name: string;
  readonly kind: keyof typeof SPAN_KINDS;
  /** undefined = whatever span is active; null = none. */
  readonly parent?: SpanContext | null;
  /** Where others know it by ids that are reckoned. */
  readonly ids?: Ids;
  readonly links?: readonly SpanContext[];
  readonly attributes?: Attributes;
}

export interface ActiveSpan {
  set(attributes: Attributes): void;
  /** It did not come off. */
  failed(message: string): void;
}

const tracer = () => trace.getTracer("sluice");

function parentOf(parent: SpanContext | null | undefined): Context {
  if (parent === undefined) return context.active();
  return parent === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
}

export interface StartedSpan {
  readonly span: Span;
  /** In which the span is the active one. */
  readonly context: Context;
}

export function startSpan(asked: SpanRequest): StartedSpan {
  const parent = parentOf(asked.parent);
  const options = {
    kind: SPAN_KINDS[asked.kind],
    links: (asked.links ?? []).map((linked) => ({ context: linked })),
    ...(asked.attributes === undefined ? {} : { attributes: asked.attributes }),
  };
  const span = withIds(asked.ids ?? null, () => tracer().startSpan(asked.name, options, parent));
  return { span, context: trace.setSpan(parent, span) };
}

/** Everything that `run` does, waits for and logs belongs to the span. */
export async function traced<T>(asked: SpanRequest, run: (span: ActiveSpan) => Promise<T>): Promise<T> {
  const { span, context: inside } = startSpan(asked);
  try {
    return await within(inside, () => run(activeSpan(span)));
  } catch (error) {
    activeSpan(span).failed(error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    span.end();
  }
}

export const within = <T>(inside: Context, run: () => T): T => context.with(inside, run);

export const activeSpan = (span: Span): ActiveSpan => ({
  set: (attributes) => void span.setAttributes(attributes),
  failed: (message) => void span.setStatus({ code: SpanStatusCode.ERROR, message }),
});

/** Of the span under way; null outside of any. */
export function currentTrace(): SpanContext | null {
  const active = trace.getSpanContext(context.active());
  return active !== undefined && isSpanContextValid(active) ? active : null;
}

export function currentTraceparent(): string | null {
  const active = currentTrace();
  return active === null ? null : printTraceparent(active);
}

/** What every line of a log says of its trace. */
export function traceFields(): { readonly trace_id?: string; readonly span_id?: string } {
  const active = currentTrace();
  return active === null ? {} : { trace_id: active.traceId, span_id: active.spanId };
}
