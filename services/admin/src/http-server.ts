import { type HttpServer, listen, type ListenOptions } from "@sluice/http-api";
import type { ExtraServer, Log } from "@sluice/stage-runtime";
import type { RequestListener } from "node:http";

export interface HttpServerOptions {
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly graceMs: number;
  readonly limits?: ListenOptions["limits"];
  readonly isProxy?: ListenOptions["isProxy"];
  readonly onRefused?: ListenOptions["onRefused"];
  readonly log: Log;
  /** Called when closing begins: ends what would not end by itself. */
  readonly onClose?: () => void;
  /** Told where it listens. */
  readonly onListening?: (url: string) => void;
}

export function httpServer(app: RequestListener, options: HttpServerOptions): ExtraServer {
  const { host, port, graceMs, log, onClose, limits, isProxy, onRefused } = options;
  let server: HttpServer | null = null;
  return {
    name: "http",
    async start() {
      const listening = await listen(app, {
        host,
        port,
        ...(onClose === undefined ? {} : { onClose }),
        ...(limits === undefined ? {} : { limits }),
        ...(isProxy === undefined ? {} : { isProxy }),
        ...(onRefused === undefined ? {} : { onRefused }),
      });
      if (!listening.ok) throw new Error(listening.message);
      server = listening.server;
      log.info({ url: server.url }, "console and API");
      options.onListening?.(server.url);
    },
    stop: async () => await server?.close(graceMs),
  };
}
