import type { Fault, Op } from "./port.ts";

export interface Server {
  readonly host: string;
  readonly port: number;
}

export interface ConnectTarget {
  readonly servers: readonly Server[];
  /** "" when there is none. */
  readonly chroot: string;
}

const DEFAULT_PORT = 2181;
const SERVER = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[^\s:[\]]+))(?::(?<port>\d{1,5}))?$/;

/** `host:port,host:port/chroot`; throws with the reason, for a wrong connect string is a wrong configuration. */
export function parseConnect(connect: string): ConnectTarget {
  const slash = connect.indexOf("/");
  const hosts = slash < 0 ? connect : connect.slice(0, slash);
  const chroot = slash < 0 || slash === connect.length - 1 ? "" : connect.slice(slash);
  const problem = chroot === "" ? null : pathProblem(chroot);
  if (problem !== null) throw new Error(`ZooKeeper connect string "${connect}": chroot ${problem}`);
  const servers = hosts.split(",").map((text) => parseServer(text.trim(), connect));
  return { servers, chroot };
}

function parseServer(text: string, connect: string): Server {
  const groups = SERVER.exec(text)?.groups;
  const host = groups?.["v6"] ?? groups?.["name"];
  const port = Number(groups?.["port"] ?? DEFAULT_PORT);
  if (host === undefined || port < 1 || port > 65_535) {
    throw new Error(`ZooKeeper connect string "${connect}": "${text}" is not host:port`);
  }
  return { host, port };
}

export function showServers(servers: readonly Server[]): string {
  return servers.map(({ host, port }) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`)).join(",");
}

/** Clients of one ensemble should not all begin with its first server. */
export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, order: Math.random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item);
}

/** The path as the server knows it. */
export function rooted(root: string, path: string): string {
  if (root === "") return path;
  return path === "/" ? root : root + path;
}

const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;
const DOT_NAME = /\/\.{1,2}(?:\/|$)/;

/** Nearly every path, at one look: names of letters, digits and the like that do not begin with a dot. */
const PLAIN = /^(?:\/[\w:-][\w:.-]*)+$/;

/** What ZooKeeper would object to in this path, or null. */
export function pathProblem(path: string): string | null {
  if (path === "/" || PLAIN.test(path)) return null;
  if (!path.startsWith("/")) return "does not begin with /";
  if (path.endsWith("/")) return "ends with /";
  if (path.includes("//")) return "has an empty name";
  if (DOT_NAME.test(path)) return "has a relative name";
  return FORBIDDEN.test(path) ? "has a character that ZooKeeper forbids" : null;
}

/** Why this op must not be sent, or null. A negative version would be an unconditional write. */
export function opProblem(op: Op): string | null {
  const problem = pathProblem(op.path);
  if (problem !== null || op.op === "create") return problem;
  const version = op.op === "check" ? (op.version ?? 0) : op.version;
  return Number.isInteger(version) && version >= 0 ? null : `has version ${version}`;
}

export function badPath(path: string, problem: string): Fault {
  return { ok: false, code: "BAD_ARGUMENTS", detail: `path ${JSON.stringify(path)} ${problem}` };
}
