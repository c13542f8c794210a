export { Archive, type ArchiveOptions, RETENTION_MS } from "./archive.ts";
export { BLOB_BYTES, Blobs, type Clock, openBlobs } from "./blobs.ts";
export type { SweepPorts, Swept } from "./sweep.ts";
