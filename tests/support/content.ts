/** Servers that a depositor would run: one with content and manifests, one that takes callbacks. Both keep ledgers. */
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

async function listen(server: Server): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export interface Content {
  readonly url: string;
  /** A batch manifest of `count` single files; another series has other local ids, and so other objects. */
  readonly batchManifest: (count: number, series?: string) => string;
  /** An object manifest of `count` files. */
  readonly objectManifest: (count: number) => string;
  readonly file: (n: number) => string;
  /** A GET of this file is answered only after the function that comes back was called. */
  readonly withhold: (n: number) => () => void;
  close(): Promise<void>;
}

const bytesOf = (n: string): Buffer => Buffer.from(`content of file ${n}\n`.repeat(1 + (Number(n) % 7)));
const sha256 = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

const PROFILES = "http://uc3.cdlib.org/registry/ingest/manifest";
const FIELDS = "nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName";

function manifest(kind: "batch" | "object", base: string, count: number, series: string): string {
  const rows = Array.from({ length: count }, (_, i) => {
    const bytes = bytesOf(String(i));
    const file = [`${base}/file/${i}`, "sha-256", sha256(bytes), bytes.length, "", `file-${i}.txt`];
    return [
      ...file,
      ...(kind === "batch" ? ["", `local-${series}${i}`, "A. Maker", `Title ${i}`, "2026"] : ["text/plain"]),
    ].join(" | ");
  });
  const profile = kind === "batch" ? "mrt-single-file-batch-manifest" : "mrt-ingest-manifest";
  const more =
    kind === "batch"
      ? "mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date"
      : "mrt:mimeType";
  return [
    "#%checkm_0.7",
    `#%profile | ${PROFILES}/${profile}`,
    `#%fields | ${FIELDS} | ${more}`,
    ...rows,
    "#%eof",
  ].join("\n");
}

export async function serveContent(): Promise<Content> {
  const withheld = new Map<string, Promise<void>>();
  const server = createServer((request, response) => {
    const [, kind = "", n = "", series = ""] = (request.url ?? "").split("/");
    const base = `http://${request.headers.host ?? ""}`;
    const body =
      kind === "file"
        ? bytesOf(n)
        : kind === "batch" || kind === "object"
          ? Buffer.from(manifest(kind, base, Number(n), series))
          : null;
    if (body === null) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-length": body.length, etag: `"${sha256(body)}"` });
    if (request.method === "HEAD") response.end();
    else void (withheld.get(n) ?? Promise.resolve()).then(() => response.end(body));
  });
  const { url, close } = await listen(server);
  return {
    url,
    batchManifest: (count, series = "") => `${url}/batch/${count}/${series}`,
    objectManifest: (count) => `${url}/object/${count}`,
    file: (n) => `${url}/file/${n}`,
    withhold: (n) => {
      let release: () => void = () => undefined;
      withheld.set(
        String(n),
        new Promise((resolve) => {
          release = () => {
            withheld.delete(String(n));
            resolve();
          };
        }),
      );
      return release;
    },
    close,
  };
}

export interface Receiver {
  readonly url: string;
  /** The Idempotency-Key of each callback that came, in order. */
  readonly keys: readonly string[];
  close(): Promise<void>;
}

export async function receiveCallbacks(): Promise<Receiver> {
  const keys: string[] = [];
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      keys.push(String(request.headers["idempotency-key"]));
      response.writeHead(200).end();
    });
  });
  return { ...(await listen(server)), keys };
}
