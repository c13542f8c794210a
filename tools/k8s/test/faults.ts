/** Faults that are planted into good manifests, one at a time: each check must name those that it is there for. */
import { type KubernetesObject, parseObject } from "../src/object.ts";

export type CheckName =
  "schema" | "hardened" | "images" | "coverage" | "settings" | "probes" | "references" | "metrics" | "flows";

export type Fault = readonly [
  check: CheckName,
  kind: string,
  name: string,
  before: RegExp | string,
  after: string,
  found: string,
];

/** Only what was changed, and all with it. Names of ConfigMaps end in a hash. */
export function plant(
  production: readonly KubernetesObject[],
  [, kind, name, before, after]: Fault,
): { readonly objects: readonly KubernetesObject[]; readonly changed: readonly KubernetesObject[] } {
  const changed: KubernetesObject[] = [];
  const objects = production.map((object) => {
    if (object.kind !== kind || object.metadata.name.replace(/-[a-z0-9]{10}$/, "") !== name) return object;
    const text = JSON.stringify(object);
    const faulty = text.replace(before, after);
    if (faulty === text) return object;
    const planted = parseObject(JSON.parse(faulty));
    changed.push(planted);
    return planted;
  });
  if (changed.length === 0) throw new Error(`${kind} ${name} has no ${String(before)}`);
  return { objects, changed };
}

// prettier-ignore
export const FAULTS: readonly Fault[] = [
  ["schema", "Deployment", "estimator", '"spec":{', '"spec":{"selectr":{},', "Deployment estimator: unknown field /spec/selectr"],
  ["schema", "Deployment", "estimator", '"httpGet":{', '"httpGet":{"pth":"/x",', "unknown field /spec/template/spec/containers/0/"],
  ["schema", "Deployment", "estimator", '"terminationGracePeriodSeconds":60', '"terminationGracePeriodSeconds":"60"', "terminationGracePeriodSeconds"],
  ["schema", "Deployment", "estimator", '"selector":{"matchLabels":{"app.kubernetes.io/name":"estimator"}},', "", "selector"],
  ["schema", "ScaledObject", "estimator", '"pollingInterval"', '"pollInterval"', "ScaledObject estimator: unknown field /spec/pollInterval"],
  ["schema", "ScaledObject", "estimator", '"scaleTargetRef":{"kind":"Deployment","name":"estimator"}', '"scaleTargetRef":{}', "name"],
  ["schema", "PodMonitor", "sluice", '"podMetricsEndpoints"', '"endpoints"', "unknown field /spec/endpoints"],
  ["schema", "Namespace", "sluice", '"apiVersion":"v1"', '"apiVersion":"v7"', "there is no schema for v7"],
  ["hardened", "Deployment", "recorder", '"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false', "recorder: readOnlyRootFilesystem is wrong"],
  ["hardened", "Deployment", "recorder", '"allowPrivilegeEscalation":false,', "", "recorder: allowPrivilegeEscalation is wrong"],
  ["hardened", "Deployment", "recorder", '["ALL"]', '["NET_RAW"]', "recorder: capabilities is wrong"],
  ["hardened", "Deployment", "recorder", '"runAsNonRoot":true', '"runAsNonRoot":false', "recorder: the pod's runAsNonRoot is wrong"],
  ["hardened", "Deployment", "recorder", '"runAsUser":65532', '"runAsUser":0', "recorder: the pod runs as root"],
  ["hardened", "Deployment", "recorder", '"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":true,"runAsUser":0', "recorder: runAsUser of a container takes the place of its pod's"],
  ["hardened", "Deployment", "recorder", '"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":true,"seccompProfile":{"type":"Unconfined"}', "recorder: seccompProfile of a container takes the place of its pod's"],
  ["hardened", "StatefulSet", "zookeeper", "RuntimeDefault", "Unconfined", "zookeeper: the pod's seccompProfile is wrong"],
  ["hardened", "Deployment", "recorder", '"automountServiceAccountToken":false,', "", "recorder: the token of its ServiceAccount is mounted"],
  ["hardened", "Deployment", "recorder", '"serviceAccountName":"recorder"', '"serviceAccountName":"admin"', "recorder: has no ServiceAccount of its own"],
  ["hardened", "Deployment", "recorder", '"limits":{"memory"', '"limits":{"cpu":"1","memory"', "recorder: has a CPU limit"],
  ["hardened", "Deployment", "recorder", /"limits":\{[^}]*\}/, '"limits":{}', "recorder: has no memory limit"],
  ["hardened", "Namespace", "sluice", '"pod-security.kubernetes.io/enforce":"restricted"', '"x":"y"', "Namespace sluice: pod-security.kubernetes.io/enforce"],
  ["hardened", "CronJob", "snapshot", '"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false', "snapshot: readOnlyRootFilesystem is wrong"],
  ["images", "CronJob", "snapshot", /sluice\/cli:[\d.]+/, "sluice/cli", "sluice/cli: is not pinned"],
  ["images", "Deployment", "admin", /sluice\/admin:[\d.]+/, "sluice/admin:latest", "sluice/admin:latest: is not pinned"],
  ["images", "Deployment", "admin", /sluice\/admin:[\d.]+/, "sluice/admin", "sluice/admin: is not pinned"],
  ["images", "Deployment", "admin", /sluice\/admin:/, "sluice/console:", "sluice/admin is expected, not sluice/console"],
  ["coverage", "Deployment", "notifier", '"metadata":{', '"metadata":{"name":"other"},"was":{', "notifier has no workload"],
  ["coverage", "PodDisruptionBudget", "notifier", '"kind":"PodDisruptionBudget"', '"kind":"Other"', "PodDisruptionBudget notifier is missing"],
  ["coverage", "ScaledObject", "reporter", '"kind":"ScaledObject"', '"kind":"Other"', "ScaledObject reporter is missing"],
  ["coverage", "Deployment", "notifier", '"spec":{', '"spec":{"replicas":3,', "notifier is scaled, and has replicas of its own"],
  ["settings", "ConfigMap", "estimator-settings", "STAGE_CONCURRENCY", "STAGE_CONCURENCY", "estimator: STAGE_CONCURENCY is no setting of it"],
  ["settings", "ConfigMap", "fleet-settings", "ZOOKEEPER_CONNECT", "LOG", "recorder: ZOOKEEPER_CONNECT: is required"],
  ["settings", "ConfigMap", "estimator-settings", '"STAGE_CONCURRENCY":"16"', '"STAGE_CONCURRENCY":"many"', "estimator: STAGE_CONCURRENCY: must be a whole number"],
  ["settings", "ConfigMap", "processor-settings", /"EZID_CREDENTIALS_FILE":"[^"]*",/, "", "processor: EZID_CREDENTIALS: is required for an EZID service"],
  ["settings", "ConfigMap", "downloader-settings", '"WORKING_DIR":"/work/queue"', '"WORKING_DIR":"/elsewhere"', "downloader: WORKING_DIR is /elsewhere, where nothing is mounted"],
  ["settings", "ConfigMap", "downloader-settings", ',"WORKING_DIR":"/work/queue"', "", "downloader: WORKING_DIR is not given, and its default is a folder of development"],
  ["settings", "ConfigMap", "job-api-settings", /"JOB_PEER_SECRET_FILE":"[^"]*",/, "", "job-api: PEER_HOST: must be a loopback address without JOB_PEER_SECRET"],
  ["settings", "ConfigMap", "job-api-settings", /"JOB_STORE_DIR":"[^"]*",/, "", "job-api: JOB_STORE_DIR is not given, and its default is a folder of development"],
  ["settings", "ConfigMap", "reporter-settings", "/secrets/mail/url", "/secrets/mail/uri", "reporter: MAIL_URL_FILE: Secret mail has no uri"],
  ["probes", "Deployment", "processor", '"path":"/livez"', '"path":"/health"', "processor: livenessProbe asks for /health and not for /livez"],
  ["probes", "Deployment", "processor", /"startupProbe":\{.*?"path":"\/livez"/, '"startupProbe":{"httpGet":{"path":"/readyz"', "processor: startupProbe asks for /readyz"],
  ["probes", "Deployment", "processor", '"terminationGracePeriodSeconds":1800', '"terminationGracePeriodSeconds":1785', "processor: is killed after 1785 s, and may need 1790 s to stop"],
  ["probes", "StatefulSet", "batch-intake", '"sleep":{"seconds":5}', '"sleep":{"seconds":15}', "batch-intake: is killed after 300 s, and may need 305 s to stop"],
  ["probes", "Deployment", "admin", /"lifecycle":\{[^}]*\}\}\},/, "", "admin: stops to listen while load balancers still send to it"],
  ["probes", "ConfigMap", "admin-settings", '"PORT":"8081"', '"PORT":"8082"', "admin: port http is not 8082"],
  ["probes", "ConfigMap", "fleet-settings", '"METRICS_HOST":"0.0.0.0",', "", "recorder: METRICS_HOST is not given"],
  ["references", "Deployment", "processor", '"secretName":"ezid"', '"secretName":"ezit"', "processor: Secret ezit is missing"],
  ["references", "Deployment", "processor", /processor-settings-\w+/, "processor-settings", "processor: ConfigMap processor-settings is missing"],
  ["references", "Deployment", "processor", '"claimName":"working"', '"claimName":"workings"', "processor: PersistentVolumeClaim workings is missing"],
  ["references", "Deployment", "processor", '"mountPath":"/work","name":"working"', '"mountPath":"/work","name":"other"', "processor: volume other is missing"],
  ["references", "StatefulSet", "batch-intake", '"serviceName":"batch-intake-pods"', '"serviceName":"nobody"', "batch-intake: Service nobody is missing"],
  ["references", "Deployment", "processor", '"matchLabels":{"app.kubernetes.io/name":"processor"', '"matchLabels":{"app.kubernetes.io/name":"recorder"', "processor: does not select its own pods"],
  ["references", "Service", "admin", '"targetPort":"http"', '"targetPort":"https"', "Service admin: nobody listens on https"],
  ["references", "Service", "admin", '"selector":{"app.kubernetes.io/name":"admin"', '"selector":{"app.kubernetes.io/name":"nobody"', "Service admin: leads to 0 workloads"],
  ["references", "PodDisruptionBudget", "recorder", '{"app.kubernetes.io/name":"recorder"}', '{"app.kubernetes.io/name":"notifier"}', "PodDisruptionBudget recorder: selects notifier"],
  ["references", "Ingress", "admin", '"service":{"name":"admin"', '"service":{"name":"console"', "Ingress admin: Service console with port http is missing"],
  ["references", "ScaledObject", "batch-intake", '"kind":"StatefulSet"', '"kind":"Deployment"', "ScaledObject batch-intake: there is no Deployment batch-intake"],
  ["references", "PodMonitor", "sluice", '"port":"metrics"', '"port":"metric"', "recorder: is scraped by nobody"],
  ["references", "ServiceMonitor", "zookeeper", '"app.kubernetes.io/name":"zookeeper"', '"app.kubernetes.io/name":"zk"', "zookeeper: is scraped by nobody"],
  ["references", "CronJob", "snapshot", '"secretName":"snapshot-token"', '"secretName":"token"', "snapshot: Secret token is missing"],
  ["metrics", "ScaledObject", "recorder", "sluice_queue_ready_jobs", "sluice_queue_ready", "ScaledObject recorder: sluice_queue_ready is not exported"],
  ["metrics", "ScaledObject", "recorder", "sluice_stage_jobs_in_progress{", 'sluice_stage_jobs_in_progress{queue=\\"ingest\\",', "sluice_stage_jobs_in_progress has no label queue"],
  ["metrics", "ScaledObject", "recorder", 'stage=\\"recorder\\"', 'stage=\\"record\\"', "ScaledObject recorder: there is no stage record"],
  ["metrics", "ScaledObject", "recorder", 'namespace=\\"sluice\\"', 'namespace=\\"other\\"', "ScaledObject recorder: asks for namespace other"],
  ["metrics", "ScaledObject", "recorder", '"ignoreNullValues":"false"', '"ignoreNullValues":"true"', "ScaledObject recorder: takes no answer for zero"],
  ["metrics", "ScaledObject", "recorder", '"fallback"', '"fallforward"', "ScaledObject recorder: has no fallback"],
  ["metrics", "PrometheusRule", "sluice", "sluice_mail_sent_total", "sluice_mails_sent_total", "PrometheusRule sluice: sluice_mails_sent_total is not exported"],
  ["flows", "NetworkPolicy", "default-deny", '"kind":"NetworkPolicy"', '"kind":"Other"', "nothing is denied by default"],
  ["flows", "NetworkPolicy", "zookeeper-clients", '"port":2281', '"port":2181', "estimator cannot reach zookeeper at 2281"],
  ["flows", "NetworkPolicy", "zookeeper-clients", '"port":2281', '"port":2181', "NetworkPolicy zookeeper-clients: zookeeper does not listen on 2181"],
  ["flows", "NetworkPolicy", "to-zookeeper", '"console"', '"nobody"', "admin cannot reach zookeeper at 2281"],
  ["flows", "NetworkPolicy", "snapshot-at-admin", '"snapshot"}}', '"nobody"}}', "snapshot cannot reach admin at 8081"],
  ["flows", "NetworkPolicy", "zookeeper-clients", '"jobs","operator"', '"jobs"', "operator cannot reach zookeeper at 2281"],
  ["flows", "NetworkPolicy", "to-zookeeper", ',"install"', "", "init cannot reach zookeeper at 2281"],
  ["flows", "NetworkPolicy", "job-api-peers", /"ingress":\[.*?\}\],"podS/, '"podS', "job-api cannot reach job-api at 8889"],
  ["flows", "NetworkPolicy", "stage-api-peers", /"ingress":\[.*?\}\],"podS/, '"podS', "stage-api cannot reach stage-api at 8083"],
  ["flows", "NetworkPolicy", "to-job-api", '"job-runner",', "", "job-runner cannot reach job-api at 8082"],
  ["flows", "NetworkPolicy", "fleet-jobs-at-admin", '"job-runner"}}', '"nobody"}}', "job-runner cannot reach admin at 8081"],
  ["flows", "NetworkPolicy", "fleet-jobs", '"port":8080', '"port":8888', "job-runner cannot reach batch-intake at 8080"],
  ["flows", "NetworkPolicy", "inventory", '"recorder",', "", "recorder cannot reach private at 3306"],
  ["flows", "NetworkPolicy", "internet", '"10.0.0.0/8",', "", "NetworkPolicy internet: 10.0.0.0/8 is not excepted"],
  ["flows", "NetworkPolicy", "mail", '"reporter"', '"postman"', "NetworkPolicy mail: selects nobody"],
  ["flows", "NetworkPolicy", "console", '"ports":[{"port":8081}]', '"ports":[]', "NetworkPolicy console: opens more than one flow"],
];
