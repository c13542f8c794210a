/** Serves the holdings and a manifest for each batch, on loopback. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

const PIECE = 64_000;
/** Of a slow file, between two pieces. */
const TRICKLE_MS = 150;

/** Bytes that differ from file to file, and are the same at every start. */
function* pieces(name, size) {
  const seed = createHash("sha512").update(name).digest();
  const piece = Buffer.alloc(PIECE, seed);
  for (let at = 0; at < size; at += PIECE) yield piece.subarray(0, Math.min(PIECE, size - at));
}

async function* trickled(source) {
  for (const piece of source) {
    yield piece;
    await sleep(TRICKLE_MS);
  }
}

function sha256({ name, size }) {
  const hash = createHash("sha256");
  for (const piece of pieces(name, size)) hash.update(piece);
  return hash.digest("hex");
}

/** A batch of single files, one object each. */
export function manifestOf(base, { files, creator }, run) {
  const rows = files.map((file, i) =>
    [
      `${base}/${encodeURIComponent(file.name)}`,
      "sha-256",
      sha256(file.trouble === "altered" ? { ...file, name: `${file.name} as it was` } : file),
      file.size,
      "",
      file.name,
      "",
      `${run}-${file.name.replace(/\.\w+$/, "")}`,
      creator,
      `${file.name.replace(/\.\w+$/, "").replaceAll("_", " ")}, no. ${i + 1}`,
      "2026",
    ].join(" | "),
  );
  return [
    "#%checkm_0.7",
    "#%profile | http://uc3.cdlib.org/registry/ingest/manifest/mrt-single-file-batch-manifest",
    "#%prefix | mrt: | http://merritt.cdlib.org/terms#",
    "#%prefix | nfo: | http://www.semanticdesktop.org/ontologies/2007/03/22/nfo#",
    "#%fields | nfo:fileUrl | nfo:hashAlgorithm | nfo:hashValue | nfo:fileSize | nfo:fileLastModified | nfo:fileName | mrt:primaryIdentifier | mrt:localIdentifier | mrt:creator | mrt:title | mrt:date",
    ...rows,
    "#%eof",
  ].join("\n");
}

export async function serveHoldings(batches) {
  // Another run is another deposit: the same local ids would name the objects of the last one.
  const run = Date.now().toString(36);
  const files = new Map(batches.flatMap((batch) => batch.files).map((file) => [file.name, file]));
  const server = createServer((request, response) => {
    const name = decodeURIComponent((request.url ?? "/").slice(1));
    const batch = /^manifest-(\d+)$/.exec(name);
    if (batch !== null) {
      response.end(manifestOf(`http://${request.headers.host}`, batches[Number(batch[1])], run));
      return;
    }
    const file = files.get(name);
    if (file === undefined || file.trouble === "missing") {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-length": file.size });
    if (request.method === "HEAD") response.end();
    else {
      const source = pieces(file.name, file.size);
      Readable.from(file.slow ? trickled(source) : source)
        .on("error", () => response.destroy())
        .pipe(response);
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    manifestUrl: (i) => `http://127.0.0.1:${server.address().port}/manifest-${i}`,
    close: () => server.closeAllConnections(server.close()),
  };
}
