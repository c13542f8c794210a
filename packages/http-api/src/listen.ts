import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";

import { refuseUnread } from "./refuse-unread.ts";

export interface ListenOptions {
  readonly port: number;
  /** Loopback unless the configuration says otherwise. */
  readonly host?: string;
  /** Longest time for a whole request; large uploads need long. */
  readonly requestTimeoutMs?: number;
  /** Called when closing begins: ends what would not end by itself, event streams. */
  readonly onClose?: () => void;
}

export interface HttpServer {
  /** With the port that was really taken. */
  readonly url: string;
  readonly port: number;
  /** Takes no new requests, lets running ones finish for `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

export type Listening =
  { readonly ok: true; readonly server: HttpServer } | { readonly ok: false; readonly message: string };

/** Starts to serve; port 0 takes a free one. A port that cannot be had is an answer, not an exception. */
export async function listen(app: RequestListener, options: ListenOptions): Promise<Listening> {
  const host = options.host ?? "127.0.0.1";
  const server = createServer({ headersTimeout: 10_000, requestTimeout: options.requestTimeoutMs ?? 60_000 }, app);
  server.on("clientError", refuseUnread);
  try {
    server.listen(options.port, host);
    await once(server, "listening");
  } catch (error) {
    return { ok: false, message: `cannot listen on ${host}:${options.port} (${codeOf(error)})` };
  }
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : options.port;
  const name = host.includes(":") ? `[${host}]` : host;
  const end = (graceMs: number): Promise<void> => {
    options.onClose?.();
    return close(server, graceMs);
  };
  return { ok: true, server: { url: `http://${name}:${port}`, port, close: end } };
}

const codeOf = (error: unknown): string =>
  typeof error === "object" && error !== null && "code" in error ? String(error.code) : "unknown";

async function close(server: Server, graceMs: number): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), graceMs);
  await closed;
  clearTimeout(cut);
}
