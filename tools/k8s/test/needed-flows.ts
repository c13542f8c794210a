/** The flows that the services of an overlay cannot do without. */
import type { NeededFlow } from "../src/checks/flows.ts";
import { configOf } from "../src/checks/settings.ts";
import { type KubernetesObject, podOf, servicesOf, type Workload } from "../src/object.ts";
import type { Facts } from "./facts.ts";

/** From the settings that the services read; the ports of outside parts are those that docs/kubernetes.md names. */
export const neededFlows = (objects: readonly KubernetesObject[], facts: Facts): readonly NeededFlow[] => [
  ...servicesOf(objects).flatMap((workload) => flowsOf(objects, workload, facts)),
  { from: "snapshot", to: { workload: "admin" }, port: 8081 },
  { from: "operator", to: { workload: "zookeeper" }, port: 2281 },
  { from: "operator", to: { outside: "private" }, port: 3306 },
  { from: "init", to: { workload: "zookeeper" }, port: 2281 },
];

function flowsOf(objects: readonly KubernetesObject[], workload: Workload, facts: Facts): readonly NeededFlow[] {
  const from = workload.metadata.name;
  const read = configOf(objects, workload, podOf(workload).containers[0]!, facts);
  if (!read.ok) throw new Error(`${from}: ${read.problems.join("; ")}`);
  const { ZOOKEEPER_CONNECT, INVENTORY_URL, STORAGE_URL, MAIL_URL, PEER_PORT } = read.config;
  const { JOB_API_URL, ADMIN_URL, INTAKE_URL, ADVERTISE_HOST, PORT } = read.config;
  const servers = String(ZOOKEEPER_CONNECT).split(",");
  const outside = Object.entries({ 3306: INVENTORY_URL, 443: STORAGE_URL, 587: MAIL_URL });
  const inside = [JOB_API_URL, ADMIN_URL, INTAKE_URL].filter((url) => typeof url === "string");
  return [
    ...inside.map((url) => toService(objects, from, new URL(url).hostname)),
    ...(PEER_PORT === undefined ? [] : [{ from, to: { workload: from }, port: Number(PEER_PORT) }]),
    ...(ADVERTISE_HOST === undefined ? [] : [{ from, to: { workload: from }, port: Number(PORT) }]),
    ...servers.map((server) => ({ from, to: { workload: "zookeeper" }, port: Number(server.split(":")[1]) })),
    ...outside
      .filter(([, url]) => url !== undefined)
      .map(([port]): NeededFlow => ({ from, to: { outside: "private" }, port: Number(port) })),
  ];
}

/** A service's own door, which bears its name. */
function toService(objects: readonly KubernetesObject[], from: string, workload: string): NeededFlow {
  const target = servicesOf(objects).find(({ metadata }) => metadata.name === workload);
  const door =
    target === undefined ? undefined : podOf(target).containers[0]?.ports.find(({ name }) => name === "http");
  if (door === undefined) throw new Error(`${from} asks ${workload}, which has no door`);
  return { from, to: { workload }, port: door.containerPort };
}
