/** A content server with as many small files as are asked for, and a batch manifest that names them. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface ContentServer {
  readonly manifestUrl: string;
  readonly close: () => void;
}

const bytesOf = (n: string): Buffer => Buffer.from(`content of file ${n}\n`);

function* manifestLines(base: string, rows: number): Generator<string> {
  yield "#%checkm_0.7";
  yield "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-single-file-batch-manifest";
  yield "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date";
  for (let n = 0; n < rows; n++) {
    const bytes = bytesOf(String(n));
    const digest = createHash("sha256").update(bytes).digest("hex");
    yield `${base}/file/${n} | sha-256 | ${digest} | ${bytes.length} |  | file-${n}.txt |  | bench-${n} | A. Maker | Title ${n} | 2026`;
  }
  yield "#%eof";
}

export async function serveContent(rows: number): Promise<ContentServer> {
  let manifest = Buffer.alloc(0);
  const server = createServer((request, response) => {
    const [, kind = "", n = ""] = (request.url ?? "").split("/");
    const body = kind === "file" ? bytesOf(n) : manifest;
    response.writeHead(200, { "content-length": body.length });
    response.end(request.method === "HEAD" ? undefined : body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  manifest = Buffer.from([...manifestLines(base, rows)].join("\n"));
  return {
    manifestUrl: `${base}/batch`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
