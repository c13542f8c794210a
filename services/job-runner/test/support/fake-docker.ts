/** As much of Docker's HTTP API as the runner uses, on a real socket. A container "runs" by a function over its files. */
import { Readable } from "node:stream";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { entriesOf, packed, wholeOf } from "../../src/container/tape.ts";

export type Files = Map<string, string>;
export type Program = (files: Files) => number | "never" | Promise<number>;

interface FakeContainer {
  readonly id: string;
  readonly config: Record<string, unknown> & {
    readonly Labels: Record<string, string>;
    readonly WorkingDir: string;
    readonly HostConfig: { readonly Mounts: readonly { readonly Source: string }[] };
  };
  readonly files: Files;
  readonly end: { resolve: (code: number) => void; readonly promise: Promise<number> };
  status: "created" | "running" | "exited";
}

export interface FakeDocker {
  readonly host: string;
  readonly containers: Map<string, FakeContainer>;
  /** What was asked, in order: "create", "put", "start", … */
  readonly asked: string[];
  program: Program;
  /** Images that are here, with what they declare as volumes; others can be pulled. */
  readonly images: Map<string, readonly string[]>;
  /** What it says while it fetches an image; the image is there when it ends. */
  progress: readonly object[];
  /** Bytes of an image, when it was fetched. */
  imageBytes: number;
  outOfMemory: boolean;
  /** What containers print, cut as Docker cuts it. */
  output: readonly (readonly ["stdout" | "stderr", string])[];
  /** What `docker info` says. */
  info: object;
  close(): Promise<void>;
}

const VOLUME_OF = "volume-of-";
/** That of another container, by its name. */
const volumeIn = ({ HostConfig }: FakeContainer["config"]): string | undefined =>
  HostConfig.Mounts.find(({ Source }) => Source !== "")?.Source;

export async function fakeDocker(): Promise<FakeDocker> {
  const containers = new Map<string, FakeContainer>();
  const asked: string[] = [];
  let made = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => json(response, 500, { message: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const docker: FakeDocker = {
    host: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    containers,
    asked,
    program: () => 0,
    images: new Map([["docker.io/library/img:latest", []]]),
    progress: [{ status: "done" }],
    imageBytes: 1_000,
    outOfMemory: false,
    output: [],
    info: {},
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://docker");
    const path = url.pathname.replace(/^\/v[\d.]+/, "");
    const route = `${request.method ?? ""} ${path}`;
    if (route === "POST /containers/create") return create(request, response);
    if (route === "POST /images/create") {
      pull(url, response);
      return;
    }
    if (route === "GET /info") {
      json(response, 200, docker.info);
      return;
    }
    if (route === "GET /system/df") {
      const sizes = [...containers.values()].map(({ id, files }) => ({
        Name: `${VOLUME_OF}${id}`,
        UsageData: { Size: [...files.values()].reduce((sum, text) => sum + text.length, 0) },
      }));
      json(response, 200, { Volumes: sizes });
      return;
    }
    const [, image] = /^\/images\/(.+?)(?:\/json)?$/.exec(decodeURIComponent(path)) ?? [];
    if (image !== undefined) {
      actOnImage(request.method ?? "", image, response);
      return;
    }
    if (route === "GET /containers/json") {
      const all = [...containers.values()].map(({ id, config }) => ({ Id: id, Labels: config.Labels }));
      json(response, 200, all);
      return;
    }
    const [, id = "", verb = ""] = /^\/containers\/([^/]+)\/?(.*)$/.exec(path) ?? [];
    const container = containers.get(id);
    if (container === undefined) {
      json(response, 404, { message: "no such container" });
      return;
    }
    return act(`${request.method ?? ""} ${verb}`, container, { url, request, response });
  }

  function pull(url: URL, response: ServerResponse): void {
    const [name, tag] = [url.searchParams.get("fromImage") ?? "", url.searchParams.get("tag") ?? ""];
    asked.push("pull");
    if (name.includes("missing")) {
      json(response, 404, { message: `no such image: ${name}` });
      return;
    }
    response.writeHead(200, { "content-type": "application/json" });
    for (const event of docker.progress) response.write(`${JSON.stringify(event)}\r\n`);
    const failed = docker.progress.some((event) => "error" in event);
    if (!failed) docker.images.set(`${name}${tag.startsWith("sha256:") ? "@" : ":"}${tag}`, []);
    response.end();
  }

  function actOnImage(method: string, image: string, response: ServerResponse): void {
    const volumes = docker.images.get(image);
    if (volumes === undefined) {
      json(response, 404, { message: `no such image: ${image}` });
      return;
    }
    if (method === "GET") {
      const Volumes = Object.fromEntries(volumes.map((path) => [path, {}]));
      json(response, 200, { Size: docker.imageBytes, Config: { Volumes: volumes.length === 0 ? null : Volumes } });
      return;
    }
    asked.push("remove image");
    if ([...containers.values()].some(({ config }) => config["Image"] === image)) {
      json(response, 409, { message: "image is being used by a container" });
      return;
    }
    docker.images.delete(image);
    json(response, 200, [{ Untagged: image }]);
  }

  async function create(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const config = JSON.parse((await wholeOf(request, 1e6)).toString()) as FakeContainer["config"];
    asked.push(volumeIn(config) === undefined ? "create" : "create carrier");
    if (!docker.images.has(String(config["Image"]))) {
      json(response, 404, { message: "no such image" });
      return;
    }
    const id = `c${(made += 1)}`;
    let resolve: (code: number) => void = () => undefined;
    const promise = new Promise<number>((done) => (resolve = done));
    const files = containers.get(volumeIn(config)?.slice(VOLUME_OF.length) ?? "")?.files ?? (new Map() as Files);
    containers.set(id, { id, config, files, end: { resolve, promise }, status: "created" });
    json(response, 201, { Id: id, Warnings: [] });
  }

  interface Exchange {
    readonly url: URL;
    readonly request: IncomingMessage;
    readonly response: ServerResponse;
  }

  async function act(what: string, container: FakeContainer, { url, request, response }: Exchange): Promise<void> {
    const { id, config, files, end } = container;
    asked.push(what);
    switch (what) {
      case "GET json": {
        json(response, 200, {
          Id: id,
          Created: "now",
          State: { Status: container.status, OOMKilled: docker.outOfMemory },
          Mounts: [{ Name: `${VOLUME_OF}${id}`, Destination: config.WorkingDir }],
          Config: { ...config, Hostname: id },
        });
        return;
      }
      case "PUT archive": {
        for await (const file of entriesOf(request))
          files.set(`/${file.name}`, (await wholeOf(file.body, 1e6)).toString());
        json(response, 200, {});
        return;
      }
      case "POST start":
        container.status = "running";
        void Promise.resolve(docker.program(files)).then((code) => {
          if (code === "never") return;
          container.status = "exited";
          end.resolve(code);
        });
        return void response.writeHead(204).end();
      case "POST wait": {
        json(response, 200, { StatusCode: await end.promise });
        return;
      }
      case "GET logs": {
        const wanted = docker.output.filter(([stream]) => url.searchParams.get(stream) === "true");
        response.writeHead(200).end(Buffer.concat(wanted.map(([stream, text]) => frameOf(stream, text))));
        return;
      }
      case "GET archive": {
        const folder = url.searchParams.get("path") ?? "";
        const top = folder.split("/").at(-1) ?? "";
        const inside = [...files].filter(([name]) => name.startsWith(`${folder}/`));
        const entries = inside.map(([name, text]) => {
          const body = Buffer.from(text);
          return { name: `${top}${name.slice(folder.length)}`, bytes: body.length, body: Readable.from([body]) };
        });
        response.writeHead(200, { "content-type": "application/x-tar" });
        packed(Readable.from(entries)).pipe(response);
        return;
      }
      case "DELETE ":
        containers.delete(id);
        end.resolve(137);
        return void response.writeHead(204).end();
      default: {
        json(response, 400, { message: `not known: ${what}` });
        return;
      }
    }
  }
  return docker;
}

function frameOf(stream: "stdout" | "stderr", text: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(stream === "stdout" ? 1 : 2);
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
