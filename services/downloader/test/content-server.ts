import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

export interface ContentServer {
  /** `METHOD path`, in the order they came. */
  readonly requests: string[];
  /** Of each of them. */
  readonly headers: IncomingHttpHeaders[];
  readonly port: number;
  /** What a path does; of several behaviours each is used once, the last one for ever. Answers its URL. */
  on(path: string, ...behaviours: RequestListener[]): string;
  close(): Promise<void>;
}

/** A real server whose paths behave, or misbehave, as told. */
export async function startContentServer(wantedPort = 0): Promise<ContentServer> {
  const paths = new Map<string, RequestListener[]>();
  const requests: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    requests.push(`${request.method ?? ""} ${path}`);
    headers.push(request.headers);
    const behaviours = paths.get(path) ?? [status(404)];
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    behaviour?.(request, response);
  });
  server.listen(wantedPort, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  return {
    requests,
    headers,
    port,
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

/** Answers ranges under a strong ETag. `sent`: so many bytes, then nothing any more. */
export const ranged =
  (body: string, etag: string, sent = body.length): RequestListener =>
  (request, response) => {
    const [, first] = /^bytes=(\d+)-$/.exec(request.headers.range ?? "") ?? [];
    const start = request.headers["if-range"] === etag ? Number(first ?? 0) : 0;
    const range = { "content-range": `bytes ${start}-${body.length - 1}/${body.length}` };
    response.writeHead(start > 0 ? 206 : 200, {
      etag,
      "content-length": body.length - start,
      ...(start > 0 ? range : {}),
    });
    if (sent === body.length) response.end(body.slice(start));
    else response.write(body.slice(start, start + sent));
  };

/** Never silent for long, and never done. */
export const dripping: RequestListener = (_request, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write("."), 20);
  response.on("close", () => clearInterval(timer));
};
