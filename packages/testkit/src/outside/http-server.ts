/** Real HTTP servers of tests, on loopback. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** What a server does instead of answering properly. */
export type Trouble = (response: ServerResponse) => void;

export const TROUBLES = {
  hangUp: (response) => void response.socket?.destroy(),
  error500: (response) => void response.writeHead(500).end("error: internal server error"),
  silence: () => undefined,
} as const satisfies Record<string, Trouble>;

export interface HttpServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** What a server outside the queue did, in order; only ever appended to. */
export interface Ledger {
  push(line: string): unknown;
}

export async function serveHttp(handle: (request: Received, response: ServerResponse) => void): Promise<HttpServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      handle({ method, path: url, headers, body: Buffer.concat(chunks).toString("utf8") }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
