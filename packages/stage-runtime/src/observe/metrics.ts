import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import { CATALOGUE, type MetricSpec } from "./catalogue.ts";

type Instrument<S extends MetricSpec> = S["type"] extends "counter"
  ? Counter<S["labels"][number]>
  : S["type"] extends "gauge"
    ? Gauge<S["labels"][number]>
    : Histogram<S["labels"][number]>;

export type Instruments<C extends Readonly<Record<string, MetricSpec>>> = { readonly [K in keyof C]: Instrument<C[K]> };
export type RuntimeMetrics = Instruments<typeof CATALOGUE>;

/** One instrument per row of a catalogue; services describe their own the same way. */
export function makeInstruments<C extends Readonly<Record<string, MetricSpec>>>(
  catalogue: C,
  registry: Registry,
): Instruments<C> {
  const made = Object.entries(catalogue).map(([key, spec]) => [key, makeInstrument(spec, registry)] as const);
  // The rows' types say which instrument each is; Object.entries forgets them.
  return Object.fromEntries(made) as unknown as Instruments<C>;
}

function makeInstrument(spec: MetricSpec, registry: Registry): Counter | Gauge | Histogram {
  const common = { name: spec.name, help: spec.help, labelNames: [...spec.labels], registers: [registry] };
  switch (spec.type) {
    case "counter":
      return new Counter(common);
    case "gauge":
      return new Gauge(common);
    case "histogram":
      return new Histogram(spec.buckets === undefined ? common : { ...common, buckets: [...spec.buckets] });
  }
}

export interface Build {
  readonly version: string;
  readonly commit: string;
}

export function makeRuntimeMetrics(registry: Registry, build: Build): RuntimeMetrics {
  collectDefaultMetrics({ register: registry });
  const metrics = makeInstruments(CATALOGUE, registry);
  metrics.buildInfo.set({ ...build, node: process.version }, 1);
  return metrics;
}

/** For engines in tests: counted, never shown. */
export const unseenMetrics = (): RuntimeMetrics => makeInstruments(CATALOGUE, new Registry());
