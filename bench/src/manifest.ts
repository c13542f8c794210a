/** A long manifest, validated as a stream. This process does nothing else, so its peak is the reader's. */
import { MANIFEST_KINDS, validateManifest } from "@sluice/ingest-formats";
import { LIMIT_MB, peakMb } from "./process-costs.ts";
import { print } from "./print.ts";

const ROWS_PER_CHUNK = 1_000;

function* manifest(rows: number): Generator<Buffer> {
  yield Buffer.from(`#%profile | ${MANIFEST_KINDS["object-manifest"].profile}\n`);
  for (let from = 0; from < rows; from += ROWS_PER_CHUNK) {
    const chunk = Array.from({ length: Math.min(ROWS_PER_CHUNK, rows - from) }, (_, i) => rowOf(from + i));
    yield Buffer.from(chunk.join(""));
  }
  yield Buffer.from("#%eof\n");
}

const rowOf = (n: number): string =>
  `https://content.example.org/path/to/${n}.tiff | md5 | 0b21c6d48e815dd537d42dc1cfac0111 | 1024 |  | images/${n}.tiff | image/tiff\n`;

export async function measureManifest(rows: number): Promise<boolean> {
  const startedMs = performance.now();
  const read = await validateManifest(manifest(rows));
  const seconds = (performance.now() - startedMs) / 1_000;
  if (!read.ok || read.rowCount !== rows) throw new Error("the manifest was not read as it was written");
  const peak = await peakMb("self");
  print("manifest", { rows, rowsPerSecond: Math.round(rows / seconds), peakMb: peak, limitMb: LIMIT_MB });
  return peak < LIMIT_MB;
}
