import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";

import { refuseUnread } from "./refuse-unread.ts";
import { Guard, type Guarded } from "./server/guard.ts";
import { HTTP_DEFAULTS, type HttpSettings } from "./server/settings.ts";

export interface ListenOptions {
  readonly port: number;
  /** Loopback unless the configuration says otherwise. */
  readonly host?: string;
  /** Connections and slow clients; the defaults of the settings unless given. */
  readonly limits?: Partial<HttpSettings>;
  /** Whose connections are those of all their clients; nobody's unless given. */
  readonly isProxy?: (address: string) => boolean;
  /** Told of every connection and body that the limits ended. */
  readonly onRefused?: (why: Guarded) => void;
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
  const server = guardedServer(app, options);
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

/** A whole request has no deadline, since an upload takes as long as it takes: the guard sees that it goes on. */
function guardedServer(app: RequestListener, { limits: given, isProxy, onRefused }: ListenOptions): Server {
  const limits = { ...HTTP_DEFAULTS, ...given };
  const guard = new Guard({ limits, isProxy: isProxy ?? (() => false), onRefused: onRefused ?? (() => undefined) });
  const headersTimeout = limits.HEADERS_TIMEOUT_MS;
  const server = createServer(
    { headersTimeout, requestTimeout: 0, connectionsCheckingInterval: headersTimeout / 2 },
    guard.around(app),
  );
  guard.attach(server);
  server.on("clientError", refuseUnread);
  return server;
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
