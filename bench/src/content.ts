/** A content server with as many small files as are asked for, and batch manifests that name them. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export interface ContentServer {
  /** Another series has other local ids, and so other objects. */
  readonly manifestUrl: (rows: number, series?: string) => string;
  readonly close: () => void;
}

const bytesOf = (n: string): Buffer => Buffer.from(`content of file ${n}\n`);

/** How long a file's server takes to answer, as servers of other people do. */
export interface Delays {
  readonly headMs: number;
  readonly getMs: number;
}

const NO_DELAY: Delays = { headMs: 0, getMs: 0 };

function* manifestLines(base: string, rows: number, series: string): Generator<string> {
  yield "#%checkm_0.7";
  yield "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-single-file-batch-manifest";
  yield "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date";
  for (let n = 0; n < rows; n++) {
    const bytes = bytesOf(String(n));
    const digest = createHash("sha256").update(bytes).digest("hex");
    yield `${base}/file/${n} | sha-256 | ${digest} | ${bytes.length} |  | file-${n}.txt |  | bench-${series}${n} | A. Maker | Title ${n} | 2026`;
  }
  yield "#%eof";
}

export async function serveContent({ headMs, getMs }: Delays = NO_DELAY): Promise<ContentServer> {
  const manifests = new Map<string, Buffer>();
  const server = createServer((request, response) => {
    const url = request.url ?? "";
    const [, kind = "", n = ""] = url.split("/");
    const body = kind === "file" ? bytesOf(n) : (manifests.get(url) ?? Buffer.alloc(0));
    const send = (): void => {
      response.writeHead(200, { "content-length": body.length });
      response.end(request.method === "HEAD" ? undefined : body);
    };
    const delayMs = kind !== "file" ? 0 : request.method === "HEAD" ? headMs : getMs;
    if (delayMs === 0) send();
    else void sleep(delayMs).then(send);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    manifestUrl: (rows, series = "") => {
      const path = `/batch/${rows}/${series}`;
      manifests.set(path, Buffer.from([...manifestLines(base, rows, series)].join("\n")));
      return base + path;
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
