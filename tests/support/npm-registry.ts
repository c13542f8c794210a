/** As much of the npm registry's protocol as publishing and installing take, on loopback: what is put here is what can be had. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What npm sends when it publishes: all that the registry tells of a package, and the tarball itself. */
interface Packument {
  readonly name: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

export interface NpmRegistry {
  readonly url: string;
  /** Lines of an `.npmrc`: our scope, and no other, is published and found here. */
  readonly npmrc: string;
  /** Of every package that was published, sorted. */
  names(): readonly string[];
  tarball(name: string): Buffer;
  close(): Promise<void>;
}

/** `/@scope/name`, or with `/-/file.tgz` behind it. */
const PATH = /^\/(@[^/]+\/[^/]+)(?:\/-\/.+)?$/;
const TOKEN = "published-by-a-test";

export async function startNpmRegistry(): Promise<NpmRegistry> {
  const published = new Map<string, Packument>();
  const server = createServer((request, response) => {
    answer(published, request, response).catch((error: unknown) => reply(response, 400, { error: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/`,
    npmrc: `@sluice:registry=http://${host}/\n//${host}/:_authToken=${TOKEN}\n`,
    names: () => [...published.keys()].sort(),
    tarball: (name) => tarballOf(published.get(name)),
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

async function answer(
  published: Map<string, Packument>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
  const [, name = ""] = PATH.exec(path) ?? [];
  const known = published.get(name);
  if (request.method === "PUT") {
    if (request.headers.authorization !== `Bearer ${TOKEN}`) {
      reply(response, 401, { error: "who are you?" });
      return;
    }
    if (known !== undefined) {
      reply(response, 409, { error: "this version is published already" });
      return;
    }
    published.set(name, JSON.parse((await bodyOf(request)).toString("utf8")) as Packument);
    reply(response, 201, { ok: true });
    return;
  }
  if (known === undefined) {
    reply(response, 404, { error: "Not found" });
    return;
  }
  if (path.endsWith(".tgz")) {
    response.writeHead(200, { "content-type": "application/octet-stream" }).end(tarballOf(known));
    return;
  }
  const { _attachments, ...rest } = known;
  reply(response, 200, rest);
}

function tarballOf(packument: Packument | undefined): Buffer {
  const [attached] = Object.values(packument?._attachments ?? {});
  return Buffer.from(attached?.data ?? "", "base64");
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
