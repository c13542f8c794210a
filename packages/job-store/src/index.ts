export { Archive, type ArchiveOptions, RETENTION_MS } from "./archive.ts";
export { BLOB_BYTES, Blobs, type Clock, openBlobs } from "./blobs.ts";
export { type ReadRedo, readRedo, type RedoFrom, type ShardRedo } from "./redo/read-redo.ts";
export type { Pruned, RedoBounds } from "./redo/redo-files.ts";
export { type RedoOptions, RedoWriter } from "./redo/redo-writer.ts";
export type { SweepPorts, Swept } from "./sweep.ts";
