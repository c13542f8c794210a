import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface ContentServer {
  /** `METHOD path`, in the order they came. */
  readonly requests: string[];
  /** What a path does; of several behaviours each is used once, the last one for ever. Answers its URL. */
  on(path: string, ...behaviours: RequestListener[]): string;
  close(): Promise<void>;
}

/** A real server whose paths behave, or misbehave, as told. */
export async function startContentServer(): Promise<ContentServer> {
  const paths = new Map<string, RequestListener[]>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    requests.push(`${request.method ?? ""} ${path}`);
    const behaviours = paths.get(path) ?? [status(404)];
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    behaviour?.(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    requests,
    on(path, ...behaviours) {
      paths.set(path, behaviours);
      return url + path;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const status =
  (code: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(code, headers).end();

export const content =
  (body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(200, { "content-length": Buffer.byteLength(body), ...headers }).end(body);

/** Announces more than it sends, and hangs up. */
export const truncated: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-length": 1_000 });
  response.write("a beginning", () => response.destroy());
};

/** Sends a beginning, then nothing any more. */
export const stalling: RequestListener = (_request, response) => {
  response.writeHead(200, { "content-length": 1_000 });
  response.write("a beginning");
};

/** Never stops sending. */
export const endless: RequestListener = (_request, response) => {
  response.writeHead(200);
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
  };
  response.on("drain", more);
  more();
};
