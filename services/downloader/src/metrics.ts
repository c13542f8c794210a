import { makeInstruments, type MetricSpec } from "@sluice/stage-runtime";
import type { Registry } from "prom-client";
import type { DownloaderParts } from "./download.ts";

export const DOWNLOADER_METRICS = {
  bytes: {
    type: "counter",
    name: "sluice_download_bytes_total",
    help: "Bytes of files that came whole",
    labels: [],
    exportedBy: "each worker",
  },
  files: {
    type: "counter",
    name: "sluice_download_files_total",
    help: "Files tried, by outcome: got, again, never, disk-full, aborted",
    labels: ["outcome"],
    exportedBy: "each worker",
  },
} as const satisfies Record<string, MetricSpec>;

export function countFiles(registry: Registry): DownloaderParts["onFile"] {
  const { bytes, files } = makeInstruments(DOWNLOADER_METRICS, registry);
  return (verdict) => {
    files.inc({ outcome: verdict.kind });
    if (verdict.kind === "got") bytes.inc(verdict.bytes);
  };
}
