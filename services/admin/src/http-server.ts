import { type HttpServer, listen } from "@sluice/http-api";
import type { ExtraServer, Log } from "@sluice/stage-runtime";
import type { RequestListener } from "node:http";

export interface HttpServerOptions {
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
  readonly graceMs: number;
  readonly log: Log;
}

export function httpServer(app: RequestListener, { host, port, graceMs, log }: HttpServerOptions): ExtraServer {
  let server: HttpServer | null = null;
  return {
    name: "http",
    async start() {
      const listening = await listen(app, { host, port });
      if (!listening.ok) throw new Error(listening.message);
      server = listening.server;
      log.info({ url: server.url }, "console and API");
    },
    stop: async () => await server?.close(graceMs),
  };
}
