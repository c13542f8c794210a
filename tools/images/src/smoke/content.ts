/** Small files of chance content, and a batch manifest of them, on loopback. */
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Content {
  readonly manifestUrl: string;
  close(): Promise<void>;
}

const HEAD = [
  "#%checkm_0.7",
  "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-single-file-batch-manifest",
  "#%prefix | mrt: | http://merritt.cdlib.org/terms#",
  "#%prefix | nfo: | http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#",
  "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date",
];

export async function serveContent(count: number): Promise<Content> {
  const files = new Map(Array.from({ length: count }, (_, n) => [`/file-${n}.txt`, randomBytes(2_000)]));
  const server = createServer((request, response) => {
    const bytes = files.get(request.url ?? "");
    const body = request.url === "/manifest" ? Buffer.from(manifest(origin(), files)) : bytes;
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-length": body.length }).end(request.method === "HEAD" ? undefined : body);
  });
  const origin = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    manifestUrl: `${origin()}/manifest`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function manifest(origin: string, files: ReadonlyMap<string, Buffer>): string {
  const rows = [...files].map(([path, bytes], n) => {
    const digest = createHash("sha256").update(bytes).digest("hex");
    const about = ["", path.slice(1), "", `smoke-${digest.slice(0, 12)}`, "The smoke test", `File ${n}`, "2026"];
    return [`${origin}${path}`, "sha-256", digest, bytes.length, ...about].join(" | ");
  });
  return [...HEAD, ...rows, "#%eof"].join("\n");
}
