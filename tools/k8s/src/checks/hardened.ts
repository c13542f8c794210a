/** Every container as the restricted profile of Pod Security wants it, and a little more. */
import { type Container, type KubernetesObject, ofKind, podOf, type Workload, workloadsOf } from "../object.ts";

type Wanted = Readonly<Record<string, unknown>>;

const POD: Wanted = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
const CONTAINER: Wanted = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};
/** Said once, for the pod: what a container says itself would count instead. */
const OF_THE_POD = ["runAsNonRoot", "runAsUser", "runAsGroup", "seccompProfile", "privileged", "procMount"];
const ENFORCED = "pod-security.kubernetes.io/enforce";

export function hardeningProblems(objects: readonly KubernetesObject[]): readonly string[] {
  const open = ofKind(objects, "Namespace").filter(({ metadata }) => metadata.labels[ENFORCED] !== "restricted");
  return [
    ...open.map(({ metadata }) => `Namespace ${metadata.name}: ${ENFORCED} is not restricted`),
    ...workloadsOf(objects).flatMap(ofWorkload),
  ];
}

function ofWorkload(workload: Workload): readonly string[] {
  const { name } = workload.metadata;
  const pod = podOf(workload);
  return [
    ...missing(POD, pod.securityContext).map((field) => `${name}: the pod's ${field} is wrong`),
    ...(pod.securityContext["runAsUser"] === 0 ? [`${name}: the pod runs as root`] : []),
    ...(pod.automountServiceAccountToken === false ? [] : [`${name}: the token of its ServiceAccount is mounted`]),
    ...(pod.serviceAccountName === name ? [] : [`${name}: has no ServiceAccount of its own`]),
    ...[...pod.initContainers, ...pod.containers].flatMap((container) => ofContainer(name, container)),
  ];
}

function ofContainer(name: string, { securityContext, resources }: Container): readonly string[] {
  const { requests, limits } = resources;
  return [
    ...missing(CONTAINER, securityContext).map((field) => `${name}: ${field} is wrong`),
    ...OF_THE_POD.filter((field) => securityContext[field] !== undefined).map(
      (field) => `${name}: ${field} of a container takes the place of its pod's`,
    ),
    ...(requests["cpu"] === undefined || requests["memory"] === undefined ? [`${name}: requests are missing`] : []),
    ...(limits["memory"] === undefined ? [`${name}: has no memory limit`] : []),
    // It would be throttled while the node is idle.
    ...(limits["cpu"] === undefined ? [] : [`${name}: has a CPU limit`]),
  ];
}

const missing = (wanted: Wanted, given: Wanted): readonly string[] =>
  Object.keys(wanted).filter((field) => JSON.stringify(given[field]) !== JSON.stringify(wanted[field]));
