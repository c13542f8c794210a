/** Whatever an object names is there, and whatever selects selects something. */
import { z } from "zod";
import {
  COMPONENT,
  type Container,
  dataOf,
  type KubernetesObject,
  ofKind,
  podLabelsOf,
  podOf,
  selects,
  titleOf,
  type Workload,
  workloadsOf,
} from "../object.ts";

/** What is made by hand before the first start: see docs/kubernetes.md. */
export interface MadeByHand {
  readonly secrets: readonly string[];
  readonly configMaps: readonly string[];
}

export function referenceProblems(objects: readonly KubernetesObject[], byHand: MadeByHand): readonly string[] {
  return [
    ...workloadsOf(objects).flatMap((workload) =>
      ofWorkload(objects, workload, byHand).map((problem) => `${workload.metadata.name}: ${problem}`),
    ),
    ...ofKind(objects, "Service").flatMap((service) => serviceProblems(objects, service)),
    ...ofKind(objects, "PodDisruptionBudget").flatMap((budget) => budgetProblems(objects, budget)),
    ...ofKind(objects, "Ingress").flatMap((ingress) => ingressProblems(objects, ingress, byHand)),
    ...["ScaledObject", "HorizontalPodAutoscaler"].flatMap((kind) =>
      ofKind(objects, kind).flatMap((scaler) => scalerProblems(objects, scaler)),
    ),
    ...monitorProblems(objects),
  ];
}

const has = (objects: readonly KubernetesObject[], kind: string, name: string | undefined): boolean =>
  ofKind(objects, kind).some(({ metadata }) => metadata.name === name);

function ofWorkload(
  objects: readonly KubernetesObject[],
  workload: Workload,
  { secrets, configMaps }: MadeByHand,
): readonly string[] {
  const pod = podOf(workload);
  const claims = workload.spec.volumeClaimTemplates.map(({ metadata }) => metadata.name);
  const volumes = [...pod.volumes.map(({ name }) => name), ...claims];
  const hasConfigMap = (name: string): boolean => dataOf(objects, name) !== null || configMaps.includes(name);
  const { serviceName, selector } = workload.spec;
  return [
    ...(selects(selector, podLabelsOf(workload)) ? [] : ["does not select its own pods"]),
    ...(has(objects, "ServiceAccount", pod.serviceAccountName) ? [] : ["its ServiceAccount is missing"]),
    ...(serviceName === undefined || has(objects, "Service", serviceName) ? [] : [`Service ${serviceName} is missing`]),
    ...pod.volumes.flatMap(({ secret, configMap, persistentVolumeClaim }) => [
      ...(secret === undefined || secrets.includes(secret.secretName)
        ? []
        : [`Secret ${secret.secretName} is missing`]),
      ...(configMap === undefined || hasConfigMap(configMap.name) ? [] : [`ConfigMap ${configMap.name} is missing`]),
      ...(persistentVolumeClaim === undefined || has(objects, "PersistentVolumeClaim", persistentVolumeClaim.claimName)
        ? []
        : [`PersistentVolumeClaim ${persistentVolumeClaim.claimName} is missing`]),
    ]),
    ...pod.containers.flatMap((container) => containerProblems(objects, container, volumes)),
  ];
}

function containerProblems(
  objects: readonly KubernetesObject[],
  container: Container,
  volumes: readonly string[],
): readonly string[] {
  const sources = container.envFrom.flatMap(({ configMapRef }) => configMapRef?.name ?? []);
  return [
    ...sources.filter((name) => dataOf(objects, name) === null).map((name) => `ConfigMap ${name} is missing`),
    ...container.volumeMounts
      .filter(({ name }) => !volumes.includes(name))
      .map(({ name }) => `volume ${name} is missing`),
  ];
}

const ServiceShape = z.looseObject({
  spec: z.looseObject({
    selector: z.record(z.string(), z.string()),
    ports: z.array(z.looseObject({ name: z.string(), targetPort: z.string() })),
  }),
});

const portsOf = (workload: Workload): readonly string[] =>
  podOf(workload).containers.flatMap(({ ports }) => ports.map(({ name }) => name));

function serviceProblems(objects: readonly KubernetesObject[], service: KubernetesObject): readonly string[] {
  const { selector, ports } = ServiceShape.parse(service).spec;
  const selected = workloadsOf(objects).filter((workload) => selects({ matchLabels: selector }, podLabelsOf(workload)));
  if (selected.length !== 1) return [`${titleOf(service)}: leads to ${selected.length} workloads`];
  const open = selected.flatMap(portsOf);
  return ports
    .filter(({ targetPort }) => !open.includes(targetPort))
    .map(({ targetPort }) => `${titleOf(service)}: nobody listens on ${targetPort}`);
}

const BudgetShape = z.looseObject({ spec: z.looseObject({ selector: z.unknown() }) });

function budgetProblems(objects: readonly KubernetesObject[], budget: KubernetesObject): readonly string[] {
  const { selector } = BudgetShape.parse(budget).spec;
  const selected = workloadsOf(objects).filter((workload) => selects(selector, podLabelsOf(workload)));
  const names = selected.map(({ metadata }) => metadata.name);
  return names.join() === budget.metadata.name ? [] : [`${titleOf(budget)}: selects ${names.join(", ") || "nothing"}`];
}

const Backend = z.looseObject({
  service: z.looseObject({ name: z.string(), port: z.looseObject({ name: z.string() }) }),
});
const IngressShape = z.looseObject({
  spec: z.looseObject({
    tls: z.array(z.looseObject({ secretName: z.string() })),
    rules: z.array(z.looseObject({ http: z.looseObject({ paths: z.array(z.looseObject({ backend: Backend })) }) })),
  }),
});

function ingressProblems(
  objects: readonly KubernetesObject[],
  ingress: KubernetesObject,
  { secrets }: MadeByHand,
): readonly string[] {
  const { tls, rules } = IngressShape.parse(ingress).spec;
  const backends = rules.flatMap(({ http }) => http.paths.map(({ backend }) => backend.service));
  const missing = backends.filter(({ name, port }) => {
    const service = ofKind(objects, "Service").find(({ metadata }) => metadata.name === name);
    return service === undefined || !ServiceShape.parse(service).spec.ports.some((open) => open.name === port.name);
  });
  return [
    ...missing.map(({ name, port }) => `${titleOf(ingress)}: Service ${name} with port ${port.name} is missing`),
    ...tls
      .filter(({ secretName }) => !secrets.includes(secretName))
      .map(({ secretName }) => `${titleOf(ingress)}: Secret ${secretName} is missing`),
  ];
}

const ScalerShape = z.looseObject({
  spec: z.looseObject({ scaleTargetRef: z.looseObject({ kind: z.string(), name: z.string() }) }),
});

function scalerProblems(objects: readonly KubernetesObject[], scaler: KubernetesObject): readonly string[] {
  const { kind, name } = ScalerShape.parse(scaler).spec.scaleTargetRef;
  return has(objects, kind, name) ? [] : [`${titleOf(scaler)}: there is no ${kind} ${name}`];
}

const PodMonitorShape = z.looseObject({
  spec: z.looseObject({
    selector: z.unknown(),
    podMetricsEndpoints: z.array(z.looseObject({ port: z.string() })),
  }),
});
const ServiceMonitorShape = z.looseObject({
  spec: z.looseObject({ selector: z.unknown(), endpoints: z.array(z.looseObject({ port: z.string() })) }),
});

/** Components that run for moments, and serve no metrics. */
const UNSEEN = ["backup", "operator", "install"];

/** Whoever runs all the time and is scraped by nobody is found by nobody: each must be met by a monitor, where there are any. */
function monitorProblems(objects: readonly KubernetesObject[]): readonly string[] {
  const pods = ofKind(objects, "PodMonitor").map((object) => PodMonitorShape.parse(object).spec);
  const services = ofKind(objects, "ServiceMonitor").map((object) => ServiceMonitorShape.parse(object).spec);
  if (pods.length + services.length === 0) return [];
  const scraped = (workload: Workload): boolean =>
    pods.some(
      ({ selector, podMetricsEndpoints }) =>
        selects(selector, podLabelsOf(workload)) &&
        podMetricsEndpoints.every(({ port }) => portsOf(workload).includes(port)),
    ) || services.some(({ selector, endpoints }) => scrapedByService(objects, workload, selector, endpoints));
  return workloadsOf(objects)
    .filter((workload) => !UNSEEN.includes(podLabelsOf(workload)[COMPONENT] ?? "") && !scraped(workload))
    .map(({ metadata }) => `${metadata.name}: is scraped by nobody`);
}

function scrapedByService(
  objects: readonly KubernetesObject[],
  workload: Workload,
  selector: unknown,
  endpoints: readonly { readonly port: string }[],
): boolean {
  return ofKind(objects, "Service")
    .filter(({ metadata }) => selects(selector, metadata.labels))
    .map((service) => ServiceShape.parse(service).spec)
    .some(
      (spec) =>
        selects({ matchLabels: spec.selector }, podLabelsOf(workload)) &&
        endpoints.every(({ port }) => spec.ports.some(({ name }) => name === port)),
    );
}
