/** Objects of Kubernetes as far as the checks look at them; the schemas judge the rest. */
import { z } from "zod";

const Labels = z.record(z.string(), z.string()).default({});

const ObjectShape = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional(), labels: Labels }),
});
export type KubernetesObject = z.infer<typeof ObjectShape>;

export const parseObject = (raw: unknown): KubernetesObject => ObjectShape.parse(raw);

/** How a problem names the object. */
export const titleOf = ({ kind, metadata }: KubernetesObject): string => `${kind} ${metadata.name}`;

const named = z.looseObject({ name: z.string() });
const Probe = z.looseObject({
  httpGet: z.looseObject({ path: z.string(), port: z.union([z.string(), z.number()]) }).optional(),
  exec: z.looseObject({}).optional(),
});

const Container = z.looseObject({
  name: z.string(),
  image: z.string(),
  env: z
    .array(
      z.looseObject({
        name: z.string(),
        value: z.string().optional(),
        valueFrom: z.looseObject({ fieldRef: z.looseObject({ fieldPath: z.string() }) }).optional(),
      }),
    )
    .default([]),
  envFrom: z.array(z.looseObject({ configMapRef: named.optional(), secretRef: named.optional() })).default([]),
  ports: z.array(z.looseObject({ name: z.string(), containerPort: z.number() })).default([]),
  lifecycle: z
    .looseObject({ preStop: z.looseObject({ sleep: z.object({ seconds: z.number() }).optional() }).optional() })
    .optional(),
  startupProbe: Probe.optional(),
  livenessProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  resources: z.looseObject({ requests: Labels, limits: Labels }).default({ requests: {}, limits: {} }),
  securityContext: z.record(z.string(), z.unknown()).default({}),
  volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })).default([]),
});
export type Container = z.infer<typeof Container>;

const Volume = z.looseObject({
  name: z.string(),
  secret: z.looseObject({ secretName: z.string() }).optional(),
  configMap: named.optional(),
  persistentVolumeClaim: z.looseObject({ claimName: z.string() }).optional(),
});

const WorkloadShape = z.looseObject({
  kind: z.enum(["Deployment", "StatefulSet", "CronJob"]),
  metadata: z.looseObject({ name: z.string(), labels: Labels }),
  spec: z.looseObject({
    replicas: z.number().optional(),
    serviceName: z.string().optional(),
    selector: z.looseObject({ matchLabels: Labels }),
    template: z.looseObject({
      metadata: z.looseObject({ labels: Labels }),
      spec: z.looseObject({
        serviceAccountName: z.string().optional(),
        automountServiceAccountToken: z.boolean().optional(),
        terminationGracePeriodSeconds: z.number().default(30),
        securityContext: z.record(z.string(), z.unknown()).default({}),
        initContainers: z.array(Container).default([]),
        containers: z.array(Container),
        volumes: z.array(Volume).default([]),
      }),
    }),
    volumeClaimTemplates: z.array(z.looseObject({ metadata: named })).default([]),
  }),
});
export type Workload = z.infer<typeof WorkloadShape>;

const CronJobShape = z.looseObject({
  spec: z.looseObject({
    jobTemplate: z.looseObject({
      spec: z.looseObject({ template: z.looseObject({ metadata: z.looseObject({ labels: Labels }) }) }),
    }),
  }),
});

/** A CronJob in the form of the others: its pods are those of its jobs, and Kubernetes itself selects them. */
function ofCronJob(object: KubernetesObject): unknown {
  const { template } = CronJobShape.parse(object).spec.jobTemplate.spec;
  return { ...object, spec: { selector: { matchLabels: template.metadata.labels }, template } };
}

/** What runs all the time, and what runs by the clock. */
export const workloadsOf = (objects: readonly KubernetesObject[]): readonly Workload[] =>
  objects
    .filter(({ kind }) => ["Deployment", "StatefulSet", "CronJob"].includes(kind))
    .map((object) => WorkloadShape.parse(object.kind === "CronJob" ? ofCronJob(object) : object));

export const podOf = (workload: Workload) => workload.spec.template.spec;
export const podLabelsOf = (workload: Workload) => workload.spec.template.metadata.labels;

export const COMPONENT = "app.kubernetes.io/component";

/** Those that run our own services, not ZooKeeper. */
export const servicesOf = (objects: readonly KubernetesObject[]): readonly Workload[] =>
  workloadsOf(objects).filter((workload) =>
    ["stage", "console", "jobs"].includes(podLabelsOf(workload)[COMPONENT] ?? ""),
  );

export const ofKind = (objects: readonly KubernetesObject[], kind: string): readonly KubernetesObject[] =>
  objects.filter((object) => object.kind === kind);

const SelectorShape = z.looseObject({
  matchLabels: Labels,
  matchExpressions: z
    .array(z.looseObject({ key: z.string(), operator: z.literal("In"), values: z.array(z.string()) }))
    .default([]),
});

/** An empty selector selects all; only the operators that the manifests use are known. */
export function selects(selector: unknown, labels: Readonly<Record<string, string>>): boolean {
  const { matchLabels, matchExpressions } = SelectorShape.parse(selector ?? {});
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, values }) => values.includes(labels[key] ?? ""))
  );
}

const DataShape = z.looseObject({ data: Labels });

/** The content of a ConfigMap; null: there is none of that name. */
export function dataOf(objects: readonly KubernetesObject[], name: string): Readonly<Record<string, string>> | null {
  const found = ofKind(objects, "ConfigMap").find(({ metadata }) => metadata.name === name);
  return found === undefined ? null : DataShape.parse(found).data;
}

/** What a container finds in its environment; the later source wins, as in Kubernetes. */
export function environmentOf(objects: readonly KubernetesObject[], container: Container): Record<string, string> {
  const sources = container.envFrom.map(({ configMapRef }) => dataOf(objects, configMapRef?.name ?? "") ?? {});
  // What only a running pod knows stands there by its name.
  const own = container.env.map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.fieldRef.fieldPath ?? ""]);
  return Object.assign({}, ...sources, Object.fromEntries(own)) as Record<string, string>;
}
