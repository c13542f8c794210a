/** Serves the sample's files and a batch manifest of them, on loopback, for as long as the fleet runs. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const CONTENT = fileURLToPath(new URL("../../sample/content/", import.meta.url));
const MANIFEST = "manifest.checkm";

export interface ContentServer {
  readonly manifestUrl: string;
  readonly files: number;
  close(): Promise<void>;
}

interface SampleFile {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

export async function serveSample(): Promise<ContentServer> {
  const files = await sampleFiles();
  const server = createServer((request, response) => answer(request, response, files));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    manifestUrl: `${base}/${MANIFEST}`,
    files: files.length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function sampleFiles(): Promise<readonly SampleFile[]> {
  const names = (await readdir(CONTENT)).sort();
  return await Promise.all(
    names.map(async (name) => {
      const bytes = await readFile(join(CONTENT, name));
      return { name, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
    }),
  );
}

function answer(request: IncomingMessage, response: ServerResponse, files: readonly SampleFile[]): void {
  const name = decodeURIComponent((request.url ?? "/").slice(1));
  if (name === MANIFEST) {
    const text = manifest(`http://${request.headers.host ?? ""}`, files);
    response.writeHead(200, { "content-type": "text/plain; charset=utf-8", "content-length": Buffer.byteLength(text) });
    response.end(request.method === "HEAD" ? undefined : text);
    return;
  }
  const file = files.find((candidate) => candidate.name === name);
  if (file === undefined) {
    response.writeHead(404).end();
    return;
  }
  response.writeHead(200, { "content-length": file.size, etag: `"${file.sha256}"` });
  if (request.method === "HEAD") response.end();
  else createReadStream(join(CONTENT, file.name)).pipe(response);
}

/** A batch of single files, one object each. */
function manifest(base: string, files: readonly SampleFile[]): string {
  // Another start is another deposit: the same local ids would name the objects of the last one.
  const run = Math.trunc(performance.timeOrigin).toString(36);
  const rows = files.map(({ name, size, sha256 }, i) => {
    const title = name.replace(/\.[^.]+$/, "").replaceAll("-", " ");
    const columns = [
      `${base}/${encodeURIComponent(name)}`,
      "sha-256",
      sha256,
      size,
      "",
      name,
      "",
      `sample-${run}-${i + 1}`,
      "The Sluice team",
      title,
      "2026",
    ];
    return columns.join(" | ");
  });
  return [
    "#%checkm_0.7",
    "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-single-file-batch-manifest",
    "#%prefix | mrt: | http://merritt.cdlib.org/terms#",
    "#%prefix | nfo: | http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#",
    "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date",
    ...rows,
    "#%eof",
    "",
  ]
    .join("\n")
    .trimEnd();
}
