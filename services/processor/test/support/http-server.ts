import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "@jest/globals";

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

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((close) => close()));
});

/** A real HTTP server of one test; answers with its address. */
export async function serve(handle: (request: Received, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      handle({ method, path: url, headers, body: Buffer.concat(chunks).toString("utf8") }, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
