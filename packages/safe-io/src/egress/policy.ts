import ipaddr from "ipaddr.js";

/** What is allowed although it is not public, or on another port; on all ports if none are named. */
export type AllowRule =
  | { readonly cidr: string; readonly ports?: readonly number[] }
  /** Whatever address this very name has: whoever wrote the rule answers for its name server. */
  | { readonly host: string; readonly ports?: readonly number[] };

export interface EgressPolicy {
  /** Ports that public addresses are asked on. */
  readonly ports: readonly number[];
  readonly allow: readonly AllowRule[];
  /** Public addresses that are refused all the same, as CIDR. */
  readonly deny: readonly string[];
}

/** Public hosts on the usual ports. 168.63.129.16 is a cloud's metadata service behind a public address. */
export const PUBLIC_ONLY: EgressPolicy = { ports: [80, 443, 8080, 8443], allow: [], deny: ["168.63.129.16/32"] };

/** The machine itself, both ways to write it. */
export const LOOPBACK: readonly AllowRule[] = [{ cidr: "127.0.0.0/8" }, { cidr: "::1/128" }];

/** The settings of every service that goes out, as `stage-runtime` reads them. */
export interface EgressSettings {
  readonly ALLOW_LOOPBACK: boolean;
  readonly EGRESS_ALLOW: readonly AllowRule[];
  readonly EGRESS_PORTS: readonly number[];
}

export const policyOf = ({ ALLOW_LOOPBACK, EGRESS_ALLOW, EGRESS_PORTS }: EgressSettings): EgressPolicy => ({
  ...PUBLIC_ONLY,
  ports: EGRESS_PORTS,
  allow: ALLOW_LOOPBACK ? [...LOOPBACK, ...EGRESS_ALLOW] : EGRESS_ALLOW,
});

/** Where a socket goes: an address, and the name that led to it. */
export interface Destination {
  readonly address: string;
  readonly port: number;
  readonly host?: string;
}

/** Undefined: allowed. Otherwise the reason, without the address's owner being told more than he knows. */
export function refusalOf({ address, port, host }: Destination, policy: EgressPolicy): string | undefined {
  if (!ipaddr.isValid(address)) return "it has no valid address";
  const parsed = ipaddr.parse(address);
  const names = (rule: AllowRule): boolean => ("host" in rule ? rule.host === host : covers(rule.cidr, parsed));
  if (policy.allow.some((rule) => names(rule) && (rule.ports?.includes(port) ?? true))) return undefined;
  const range = rangeOf(parsed);
  if (range !== "unicast") return `its address is not public (${range})`;
  if (policy.deny.some((cidr) => covers(cidr, parsed))) return "its address is on the deny list";
  return policy.ports.includes(port) ? undefined : `port ${port} is not on the list`;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Global IPv6 is 2000::/3; whatever else ipaddr.js may call unicast is not routed. */
function rangeOf(address: Address): string {
  const range = address.range();
  if (address instanceof ipaddr.IPv6 && range === "unicast" && !covers("2000::/3", address)) return "reserved";
  return range;
}

function covers(cidr: string, address: Address): boolean {
  const [network, bits] = ipaddr.parseCIDR(cidr);
  return network.kind() === address.kind() && address.match(network, bits);
}

/** Undefined: the URL may be asked, if its address may. */
export function refusalOfUrl(url: URL): string | undefined {
  if (url.protocol !== "http:" && url.protocol !== "https:") return `${url.protocol} is not http or https`;
  if (url.username !== "" || url.password !== "") return "it carries a user name or password";
  return url.hostname === "" ? "it names no host" : undefined;
}

export const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
