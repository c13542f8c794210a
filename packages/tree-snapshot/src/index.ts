export { takeSnapshot, type SnapshotOptions, type SnapshotResult } from "./snapshot.ts";
export { type Redo, type RedoFrom, restoreSnapshot, type RestoreOptions, type RestoreResult } from "./restore.ts";
export type { RedoneCounts, WrittenNodes } from "./redone-nodes.ts";
export { type AtWork, describeAtWork, whoIsAtWork } from "./at-work.ts";
export { GAP } from "./restored-nodes.ts";
export { type Header, readSnapshot, type FileItem } from "./format.ts";
export { browse, type Browsed, type BrowseOptions, type NodeView } from "./browse.ts";
