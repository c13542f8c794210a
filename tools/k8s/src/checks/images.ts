import { type KubernetesObject, podOf, servicesOf, workloadsOf } from "../object.ts";

const TAG = /:(?<tag>[\w][\w.-]*)$|@sha256:[0-9a-f]{64}$/;

/** An image that may be another one tomorrow cannot be rolled back to. */
export function imageProblems(objects: readonly KubernetesObject[]): readonly string[] {
  const loose = workloadsOf(objects).flatMap((workload) => {
    const { initContainers, containers } = podOf(workload);
    const images = [...initContainers, ...containers].map(({ image }) => image);
    return images.filter((image) => !TAG.test(image) || image.endsWith(":latest"));
  });
  const strange = servicesOf(objects).flatMap((workload) => {
    const wanted = `sluice/${workload.metadata.name}`;
    const images = podOf(workload).containers.map(({ image }) => image.split(/[:@]/, 1)[0] ?? "");
    return images.filter((image) => image !== wanted).map((image) => `${wanted} is expected, not ${image}`);
  });
  return [...loose.map((image) => `${image}: is not pinned`), ...strange];
}
