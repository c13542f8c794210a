/** /metrics, /livez, /readyz and /progress, on a port of their own so that a network policy can close the others. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { isThisMachine } from "@sluice/zookeeper";
import type { Registry } from "prom-client";
import type { HandEntry } from "../engine/in-hand.ts";
import { type Check, printChecks } from "./health.ts";

/** What is served there; probes and scrape configurations are held to it. */
export const OPS_PATHS = {
  metrics: "/metrics",
  livez: "/livez",
  readyz: "/readyz",
  /** For humans and compose files. */
  healthz: "/healthz",
  progress: "/progress",
} as const;

export interface OpsServerParts {
  readonly host: string;
  readonly port: number;
  readonly registry: Registry;
  readonly livez: () => readonly Check[];
  readonly readyz: () => readonly Check[];
  readonly inHand: () => readonly HandEntry[];
}

export interface OpsServer {
  /** http://host:port */
  readonly url: string;
  close(): Promise<void>;
}

/** Rejects if the port cannot be had. */
export async function startOpsServer(parts: OpsServerParts): Promise<OpsServer> {
  const server = createServer((request, response) => {
    void reply(parts, request)
      .catch((): Reply => text(500, "the answer could not be made\n"))
      .then((answer) => send(response, answer));
  });
  await listening(server, parts.port, parts.host).catch((error: unknown) => {
    throw isTaken(error)
      ? new Error(`METRICS_PORT: another process listens on ${parts.host}:${parts.port}: set another port`)
      : error;
  });
  const { port } = server.address() as AddressInfo;
  const host = parts.host.includes(":") ? `[${parts.host}]` : parts.host;
  return { url: `http://${host}:${port}`, close: () => closed(server) };
}

interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

const text = (status: number, body: string): Reply => ({ status, type: "text/plain", body });
const json = (status: number, body: unknown): Reply => ({
  status,
  type: "application/json",
  body: JSON.stringify(body),
});

/**
 * A name that others can point at this machine would let their pages read a port that only this machine reaches. An address is
 * nobody's to point elsewhere; on other interfaces names are the network's, and scrapers use them.
 */
function isAnswered({ host }: Pick<OpsServerParts, "host">, { headers }: IncomingMessage): boolean {
  if (!isThisMachine(host)) return true;
  const url = `http://${headers.host ?? ""}`;
  const name = URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, "$1") : "";
  return name === "localhost" || name === host || isIP(name) !== 0;
}

async function reply(parts: OpsServerParts, request: IncomingMessage): Promise<Reply> {
  if (!isAnswered(parts, request)) return text(403, "ask by an address, or as localhost\n");
  if (request.method !== "GET" && request.method !== "HEAD") return text(405, "only GET\n");
  const url = new URL(request.url ?? "/", "http://localhost");
  switch (url.pathname) {
    case OPS_PATHS.metrics:
      return { status: 200, type: parts.registry.contentType, body: await parts.registry.metrics() };
    case OPS_PATHS.livez:
      return checked(request, url, "livez", parts.livez());
    case OPS_PATHS.readyz:
    case OPS_PATHS.healthz:
      return checked(request, url, "readyz", parts.readyz());
    case OPS_PATHS.progress:
      return json(200, { jobs: parts.inHand() });
    default:
      return text(404, "there is /metrics, /livez, /readyz and /progress\n");
  }
}

function checked(request: IncomingMessage, url: URL, title: string, checks: readonly Check[]): Reply {
  const status = checks.every(({ ok }) => ok) ? 200 : 503;
  if (request.headers.accept?.includes("application/json") === true)
    return json(status, { ok: status === 200, checks });
  return text(status, printChecks(title, checks, url.searchParams.has("verbose")));
}

function send(response: ServerResponse, { status, type, body }: Reply): void {
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(body);
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

const isTaken = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "EADDRINUSE";

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
