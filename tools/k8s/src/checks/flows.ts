/** Network policies against the ports that are really used: both ends of a flow are open, and nothing else is. */
import { z } from "zod";
import { type KubernetesObject, ofKind, podLabelsOf, podOf, selects, type Workload, workloadsOf } from "../object.ts";

/** A flow that a service cannot do without. */
export interface NeededFlow {
  readonly from: string;
  readonly to: { readonly workload: string } | { readonly outside: "internet" | "private" };
  readonly port: number;
}

const Peer = z.looseObject({
  podSelector: z.unknown().optional(),
  namespaceSelector: z.unknown().optional(),
  ipBlock: z.looseObject({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
});
const Ports = z.array(z.looseObject({ port: z.number() })).default([]);
const PolicyShape = z.looseObject({
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({
    podSelector: z.unknown(),
    policyTypes: z.array(z.string()),
    ingress: z.array(z.looseObject({ from: z.array(Peer).default([]), ports: Ports })).default([]),
    egress: z.array(z.looseObject({ to: z.array(Peer).default([]), ports: Ports })).default([]),
  }),
});
type Policy = z.infer<typeof PolicyShape>;
type Peer = z.infer<typeof Peer>;

/** Never reached from here, whatever a depositor writes into a manifest. */
export const PRIVATE = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16"],
  ...["224.0.0.0/4", "::/127", "64:ff9b::/96", "fc00::/7", "fe80::/10"],
];
const EVERYWHERE = ["0.0.0.0/0", "::/0"];

const policiesOf = (objects: readonly KubernetesObject[]): readonly Policy[] =>
  ofKind(objects, "NetworkPolicy").map((object) => PolicyShape.parse(object));

export function flowProblems(objects: readonly KubernetesObject[], needed: readonly NeededFlow[]): readonly string[] {
  const policies = policiesOf(objects);
  const workloads = workloadsOf(objects);
  return [
    ...(policies.some(isDefaultDeny) ? [] : ["nothing is denied by default"]),
    ...policies.flatMap((policy) =>
      [...portProblems(policy, workloads), ...rangeProblems(policy)].map(
        (problem) => `NetworkPolicy ${policy.metadata.name}: ${problem}`,
      ),
    ),
    ...needed
      .filter((flow) => !isOpen(flow, policies, workloads))
      .map(({ from, to, port }) => `${from} cannot reach ${"workload" in to ? to.workload : to.outside} at ${port}`),
  ];
}

/** Who may go out to everywhere. */
export function mayGoOut(objects: readonly KubernetesObject[]): readonly string[] {
  const open = policiesOf(objects).filter(({ spec }) =>
    spec.egress.some(({ to }) => to.some(({ ipBlock }) => EVERYWHERE.includes(ipBlock?.cidr ?? ""))),
  );
  const workloads = workloadsOf(objects).filter((workload) =>
    open.some(({ spec }) => selects(spec.podSelector, podLabelsOf(workload))),
  );
  return workloads.map(({ metadata }) => metadata.name);
}

const isDefaultDeny = ({ spec }: Policy): boolean =>
  selects(spec.podSelector, {}) &&
  ["Ingress", "Egress"].every((type) => spec.policyTypes.includes(type)) &&
  spec.ingress.length + spec.egress.length === 0;

const opens = (workload: Workload, port: number): boolean =>
  podOf(workload).containers.some(({ ports }) => ports.some(({ containerPort }) => containerPort === port));

/** Within the namespace; null: the peer is elsewhere. */
const peersOf = (peer: Peer, workloads: readonly Workload[]): readonly Workload[] | null =>
  peer.podSelector === undefined || peer.namespaceSelector !== undefined
    ? null
    : workloads.filter((workload) => selects(peer.podSelector, podLabelsOf(workload)));

function portProblems({ spec }: Policy, workloads: readonly Workload[]): readonly string[] {
  const own = workloads.filter((workload) => selects(spec.podSelector, podLabelsOf(workload)));
  const closed = (targets: readonly Workload[], ports: readonly { readonly port: number }[]): readonly string[] =>
    ports.flatMap(({ port }) =>
      targets
        .filter((workload) => !opens(workload, port))
        .map(({ metadata }) => `${metadata.name} does not listen on ${port}`),
    );
  return [
    ...(own.length === 0 ? ["selects nobody"] : []),
    ...spec.ingress.flatMap(({ from, ports }) => [
      ...(ports.length === 0 || from.length === 0 ? ["opens more than one flow"] : []),
      ...closed(own, ports),
    ]),
    ...spec.egress.flatMap(({ to, ports }) => [
      ...(ports.length === 0 || to.length === 0 ? ["opens more than one flow"] : []),
      ...to.flatMap((peer) => closed(peersOf(peer, workloads) ?? [], ports)),
    ]),
  ];
}

/** Each range has its own family: the other's private addresses cannot be met there. */
function rangeProblems({ spec }: Policy): readonly string[] {
  const blocks = spec.egress.flatMap(({ to }) => to.flatMap(({ ipBlock }) => ipBlock ?? []));
  return blocks
    .filter(({ cidr }) => EVERYWHERE.includes(cidr))
    .flatMap(({ cidr, except }) =>
      PRIVATE.filter((range) => range.includes(":") === cidr.includes(":") && !except.includes(range)),
    )
    .map((range) => `${range} is not excepted`);
}

function isOpen({ from, to, port }: NeededFlow, policies: readonly Policy[], workloads: readonly Workload[]): boolean {
  const source = workloads.find(({ metadata }) => metadata.name === from);
  if (source === undefined) return false;
  const rules = policies
    .filter(({ spec }) => selects(spec.podSelector, podLabelsOf(source)))
    .flatMap(({ spec }) => spec.egress)
    .filter(({ ports }) => ports.some((open) => open.port === port));
  const peers = rules.flatMap((rule) => rule.to);
  if ("outside" in to)
    return peers.some(
      ({ ipBlock }) => ipBlock !== undefined && EVERYWHERE.includes(ipBlock.cidr) === (to.outside === "internet"),
    );
  const target = workloads.find(({ metadata }) => metadata.name === to.workload);
  return (
    target !== undefined &&
    peers.some((peer) => peersOf(peer, workloads)?.includes(target) === true) &&
    isWelcome(source, target, port, policies)
  );
}

const isWelcome = (source: Workload, target: Workload, port: number, policies: readonly Policy[]): boolean =>
  policies
    .filter(({ spec }) => selects(spec.podSelector, podLabelsOf(target)))
    .flatMap(({ spec }) => spec.ingress)
    .filter(({ ports }) => ports.some((open) => open.port === port))
    .some(({ from }) => from.some((peer) => peersOf(peer, [source])?.length === 1));
