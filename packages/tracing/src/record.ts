/** Sends spans to a collector, over OTLP. Loaded only where one is configured. */
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { chosenIds, chosenSampled } from "./chosen-ids.ts";
import { traceRequestsOut } from "./requests-out.ts";

export interface RecorderOptions {
  /** Of the collector; its traces go to /v1/traces below it. */
  readonly endpoint: string;
  readonly service: string;
  readonly version: string;
  readonly worker: string;
  /** The part of new traces that is recorded, 0 to 1; whoever joins a trace does as its beginner did. */
  readonly ratio: number;
}

export interface Recorder {
  /** Sends what is left. A collector that does not answer is not waited for beyond its time limit. */
  stop(): Promise<void>;
}

const EXPORT_TIMEOUT_MS = 5_000;

export function record({ endpoint, service, version, worker, ratio }: RecorderOptions): Recorder {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      "service.namespace": "sluice",
      "service.name": service,
      "service.version": version,
      "service.instance.id": worker,
    }),
    sampler: new ParentBasedSampler({ root: beginnersSampler(ratio) }),
    idGenerator: chosenIds,
    spanProcessors: [new BatchSpanProcessor({ exporter, exportTimeoutMillis: EXPORT_TIMEOUT_MS })],
  });
  trace.setGlobalTracerProvider(provider);
  const untrace = traceRequestsOut();
  return {
    stop: async () => {
      untrace();
      trace.disable();
      // What cannot be delivered is lost with the process: traces are never worth a job.
      await provider.shutdown().catch(() => undefined);
    },
  };
}

/** For spans that begin a trace. */
function beginnersSampler(ratio: number): Sampler {
  const byRatio = new TraceIdRatioBasedSampler(ratio);
  return {
    shouldSample: (context, traceId) => {
      const sampled = chosenSampled();
      if (sampled === null) return byRatio.shouldSample(context, traceId);
      return { decision: sampled ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD };
    },
    toString: () => "Beginners",
  };
}
