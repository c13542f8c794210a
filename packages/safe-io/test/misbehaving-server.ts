import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";

export type Behaviour = (request: IncomingMessage, response: ServerResponse) => void;

export interface TestServer {
  readonly url: string;
  /** `METHOD path` and the range asked for, in order. */
  readonly requests: { readonly line: string; readonly headers: IncomingMessage["headers"] }[];
  on(path: string, ...behaviours: Behaviour[]): string;
  close(): Promise<void>;
}

/** A real server whose paths behave as told; the last behaviour of a path repeats. */
export async function startServer(): Promise<TestServer> {
  const paths = new Map<string, Behaviour[]>();
  const requests: TestServer["requests"] = [];
  const server: Server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    requests.push({ line: `${request.method ?? ""} ${request.url ?? ""}`, headers: request.headers });
    const behaviours = paths.get(path) ?? [];
    const behaviour = behaviours.length > 1 ? behaviours.shift() : behaviours[0];
    if (behaviour === undefined) status(404)(request, response);
    else behaviour(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    on: (path, ...behaviours) => {
      paths.set(path, behaviours);
      return url + path;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

export const status =
  (code: number, headers: Record<string, string> = {}): Behaviour =>
  (_request, response) => {
    response.writeHead(code, headers).end(`status ${code}`);
  };

export const redirect = (location: string, code = 302): Behaviour => status(code, { location });

export const content =
  (body: string | Buffer, headers: Record<string, string> = {}): Behaviour =>
  (request, response) => {
    const bytes = Buffer.from(body);
    response.writeHead(200, { "content-length": String(bytes.length), ...headers });
    response.end(request.method === "HEAD" ? undefined : bytes);
  };

/** Says how long it is, sends less, and hangs up. */
export const truncated =
  (body: Buffer, sent: number, headers: Record<string, string> = {}): Behaviour =>
  (_request, response) => {
    response.writeHead(200, { "content-length": String(body.length), ...headers });
    response.write(body.subarray(0, sent), () => response.destroy());
  };

/** What the client has taken so far: a server that hangs up earlier may lose bytes on the way. */
export class Progress {
  #bytes = 0;
  readonly #waiting = new Set<() => void>();

  readonly report = (bytes: number): void => {
    this.#bytes = bytes;
    for (const look of this.#waiting) look();
  };

  reached(bytes: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#bytes < bytes) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }
}

/** Answers a range request properly, with its ETag; `only` makes it hang up when the client has taken so much. */
export const ranged =
  (body: Buffer, etag: string, only?: { readonly sent: number; readonly progress: Progress }): Behaviour =>
  (request, response) => {
    const [, first] = /^bytes=(\d+)-$/.exec(request.headers.range ?? "") ?? [];
    const same = request.headers["if-range"] === etag;
    const start = first !== undefined && same ? Number(first) : 0;
    const range = start > 0 ? { "content-range": `bytes ${start}-${body.length - 1}/${body.length}` } : {};
    response.writeHead(start > 0 ? 206 : 200, { etag, "content-length": String(body.length - start), ...range });
    if (only === undefined) response.end(body.subarray(start));
    else {
      response.write(body.subarray(start, start + only.sent));
      void only.progress.reached(start + only.sent).then(() => response.destroy());
    }
  };

/** Never stops sending. */
export const endless: Behaviour = (_request, response) => {
  response.writeHead(200);
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024)));
  };
  response.on("drain", more);
  more();
};

/** Sends something, then nothing any more. */
export const stalling: Behaviour = (_request, response) => {
  response.writeHead(200, { "content-length": "1000" });
  response.write("a beginning");
};

/** Takes the request and never answers. */
export const silent: Behaviour = () => undefined;

/** Speaks raw bytes instead of HTTP. */
export async function startRawServer(answer: string): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: async () => {
      server.close();
      await once(server, "close");
    },
  };
}
