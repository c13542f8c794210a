/** What scalers and rules ask Prometheus for is exported, with those labels: a wrong name is no error there, only silence. */
import { z } from "zod";
import { type KubernetesObject, ofKind, titleOf } from "../object.ts";

export interface Metric {
  readonly name: string;
  readonly labels: readonly string[];
}

export interface MetricFacts {
  readonly metrics: readonly Metric[];
  readonly stages: readonly string[];
}

interface Query {
  readonly object: KubernetesObject;
  readonly text: string;
}

/** Added by the Prometheus operator, or by whoever scrapes. */
const OF_THE_SCRAPE = ["namespace", "pod", "container", "job", "instance", "endpoint", "le"];

const Trigger = z.looseObject({ name: z.string(), metadata: z.record(z.string(), z.string()) });
const Scaled = z.looseObject({ spec: z.looseObject({ triggers: z.array(Trigger) }) });
const Autoscaled = z.looseObject({
  spec: z.looseObject({
    metrics: z.array(
      z.looseObject({
        external: z
          .looseObject({
            metric: z.looseObject({
              name: z.string(),
              selector: z.looseObject({ matchLabels: z.record(z.string(), z.string()) }),
            }),
          })
          .optional(),
      }),
    ),
  }),
});
const Rule = z.looseObject({
  record: z.string().optional(),
  expr: z.string(),
  labels: z.record(z.string(), z.string()).default({}),
});
const Rules = z.looseObject({
  spec: z.looseObject({ groups: z.array(z.looseObject({ rules: z.array(Rule) })) }),
});

/** What KEDA asks for a stage, by the trigger's name. */
export function queriesOfStage(objects: readonly KubernetesObject[], stage: string): ReadonlyMap<string, string> {
  const scaled = ofKind(objects, "ScaledObject").filter(({ metadata }) => metadata.name === stage);
  const triggers = scaled.flatMap((object) => Scaled.parse(object).spec.triggers);
  return new Map(triggers.map(({ name, metadata }) => [name, metadata["query"] ?? ""]));
}

export const rulesIn = (object: KubernetesObject) => Rules.parse(object).spec.groups.flatMap(({ rules }) => rules);

export function metricProblems(objects: readonly KubernetesObject[], facts: MetricFacts): readonly string[] {
  const recorded = ofKind(objects, "PrometheusRule")
    .flatMap(rulesIn)
    .flatMap(({ record, expr, labels }) =>
      record === undefined ? [] : [{ name: record, labels: [...keptBy(expr), ...Object.keys(labels)] }],
    );
  const known = new Map([...facts.metrics, ...recorded].map((metric) => [metric.name, metric]));
  return [
    ...queriesOf(objects).flatMap(({ object, text }) =>
      queryProblems(text, object, known, facts.stages).map((problem) => `${titleOf(object)}: ${problem}`),
    ),
    ...ofKind(objects, "ScaledObject").flatMap(scalerProblems),
  ];
}

/** The labels that its aggregations name. */
const keptBy = (expr: string): readonly string[] =>
  [...expr.matchAll(/\bby\s*\((?<labels>[^)]*)\)/g)].flatMap(({ groups }) =>
    (groups?.["labels"] ?? "").split(/[\s,]+/),
  );

function queriesOf(objects: readonly KubernetesObject[]): readonly Query[] {
  const scaled = ofKind(objects, "ScaledObject").flatMap((object) =>
    Scaled.parse(object).spec.triggers.map(({ metadata }) => ({ object, text: metadata["query"] ?? "" })),
  );
  const autoscaled = ofKind(objects, "HorizontalPodAutoscaler").flatMap((object) =>
    // Others, as processor time, are Kubernetes' own.
    Autoscaled.parse(object).spec.metrics.flatMap(({ external }) => {
      if (external === undefined) return [];
      const { metric } = external;
      const labels = Object.entries(metric.selector.matchLabels).map(([name, value]) => `${name}="${value}"`);
      return { object, text: `${metric.name}{${labels.join(",")}}` };
    }),
  );
  const rules = ofKind(objects, "PrometheusRule").flatMap((object) =>
    rulesIn(object).map(({ expr }) => ({ object, text: expr })),
  );
  return [...scaled, ...autoscaled, ...rules];
}

const SERIES = /\b(?<name>sluice[_:][a-z0-9_:]+)(?:\{(?<matchers>[^}]*)\})?/g;
const MATCHER = /(?<!\w)(?<label>\w+)\s*(?<operator>=~|!~|!=|=)\s*"(?<value>[^"]*)"/g;
const OF_A_HISTOGRAM = /_(?:bucket|sum|count)$/;

function queryProblems(
  query: string,
  { metadata }: KubernetesObject,
  known: ReadonlyMap<string, Metric>,
  stages: readonly string[],
): readonly string[] {
  const series = [...query.matchAll(SERIES)];
  return series.flatMap(({ groups }) => {
    const { name = "", matchers = "" } = groups ?? {};
    const metric = known.get(name) ?? known.get(name.replace(OF_A_HISTOGRAM, ""));
    if (metric === undefined) return [`${name} is not exported`];
    const labels = [...matchers.matchAll(MATCHER)].map((match) => match.groups ?? {});
    return labels.flatMap(({ label = "", operator, value = "" }) => [
      ...([...metric.labels, ...OF_THE_SCRAPE].includes(label) ? [] : [`${name} has no label ${label}`]),
      ...(operator === "=" && label === "stage" && !stages.includes(value) ? [`there is no stage ${value}`] : []),
      ...(label === "namespace" && value !== metadata.namespace ? [`asks for namespace ${value}`] : []),
    ]);
  });
}

/** No answer is a failure, for which there is a fallback; it must not read as "nothing to do". */
function scalerProblems(object: KubernetesObject): readonly string[] {
  const { spec } = Scaled.parse(object);
  const silent = spec.triggers.some(({ metadata }) => metadata["ignoreNullValues"] !== "false");
  return [
    ...(silent ? [`${titleOf(object)}: takes no answer for zero`] : []),
    ...(spec["fallback"] === undefined ? [`${titleOf(object)}: has no fallback`] : []),
  ];
}
