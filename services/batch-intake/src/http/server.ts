import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Express } from "express";

export interface HttpServer {
  readonly port: number;
  /** Takes no new connections and lets requests under way come to their end; after the grace they are cut. */
  close(graceMs: number): Promise<void>;
}

const HEADERS_MS = 30_000;
const IDLE_MS = 120_000;

export async function listen(app: Express, host: string, port: number): Promise<HttpServer> {
  // An upload of 30 GB takes as long as it takes; only silence ends it.
  const server = createServer({ requestTimeout: 0, headersTimeout: HEADERS_MS }, app);
  server.timeout = IDLE_MS;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve());
  });
  return { port: (server.address() as AddressInfo).port, close: (graceMs) => close(server, graceMs) };
}

async function close(server: Server, graceMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cut);
}
