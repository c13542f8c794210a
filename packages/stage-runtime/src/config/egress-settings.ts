/** Where a service may go, the same for every one that goes out: spread into its schema. `safe-io` makes a policy of it. */
import { isIP } from "node:net";
import { flag, parsedText } from "./fields.ts";

export type EgressRule =
  | { readonly cidr: string; readonly ports?: readonly number[] }
  | { readonly host: string; readonly ports?: readonly number[] };

export const egressSettings = {
  /** This very machine may be asked: for a laptop, never where strangers submit. */
  ALLOW_LOOPBACK: flag().default(false),
  /** What is allowed although it is not public, or on another port. */
  EGRESS_ALLOW: parsedText(
    parseEgressRules,
    "a list of 10.2.0.0/16, 10.2.0.0/16:8443, store.internal:8443, [fd00::/8]:443 …",
  ).default([]),
  /** Ports that public hosts are asked on. */
  EGRESS_PORTS: parsedText(parsePorts, "a list of ports from 1 to 65535").default([80, 443, 8080, 8443]),
};

const listOf = (text: string): string[] => text.split(",").map((part) => part.trim());

export function parseEgressRules(text: string): readonly EgressRule[] | null {
  return allOrNone(listOf(text).map(parseRule));
}

function parsePorts(text: string): readonly number[] | null {
  return allOrNone(listOf(text).map(parsePort));
}

const allOrNone = <T>(items: readonly (T | null)[]): readonly T[] | null => {
  const found = items.filter((item): item is T & {} => item !== null);
  return found.length === items.length ? found : null;
};

/** `subject`, `subject:port`, `[subject]:port`; a subject with colons of its own has a port only behind brackets. */
function parseRule(text: string): EgressRule | null {
  const [, bracketed, plain, portText] = /^(?:\[([^\]]+)\]|([^:[\]]+)|[^[\]]+)(?::(\d+))?$/.exec(text) ?? [];
  const hasPort = bracketed !== undefined || plain !== undefined;
  const subject = parseSubject(bracketed ?? plain ?? text);
  if (subject === null || !hasPort || portText === undefined) return subject;
  const port = parsePort(portText);
  return port === null ? null : { ...subject, ports: [port] };
}

function parseSubject(text: string): { readonly cidr: string } | { readonly host: string } | null {
  const [address = "", bits, ...more] = text.split("/");
  const longest = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0) return bits === undefined ? parseHost(address) : null;
  if (bits === undefined) return { cidr: `${address}/${longest}` };
  return /^\d{1,3}$/.test(bits) && Number(bits) <= longest && more.length === 0 ? { cidr: text } : null;
}

const HOST = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9])?)*$/;

/** Names that look like numbers would never be met: they are read as addresses. */
function parseHost(text: string): { readonly host: string } | null {
  const host = text.toLowerCase();
  return HOST.test(host) && /[a-z]/.test(host) ? { host } : null;
}

function parsePort(text: string): number | null {
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port > 0 && port < 65_536 ? port : null;
}
