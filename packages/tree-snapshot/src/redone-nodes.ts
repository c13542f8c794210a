/**
 * What a shard's owners wrote behind the snapshot, laid over its nodes: the tree gets each as it stood at the disaster. Nodes that
 * each restore makes anew are left to it. Pure.
 */
import { meaningOf } from "@sluice/job-queue";
import type { SnapshotNode } from "./format.ts";

/** What stands at each path; null: nothing. */
export type WrittenNodes = ReadonlyMap<string, Buffer | null>;

export interface RedoneCounts {
  /** Jobs that the snapshot did not have. */
  made: number;
  /** Jobs that it had otherwise. */
  changed: number;
  /** Jobs that it had, and that were over. */
  gone: number;
  /** Nodes without the one above them: the log has gaps. */
  leftOut: number;
}

/** Counters, terms and marks are the restore's own. */
const LAID_OVER: ReadonlySet<string> = new Set([
  ...["block", "job", "data", "group", "guests", "guest", "crashed"],
  ...["done-directory", "done-entry", "done-result", "done-data"],
]);
/** Made with the first node in them, perhaps by a transaction that the log has not. */
const DIRECTORIES: ReadonlySet<string> = new Set(["block", "guests", "done-directory"]);
const EMPTY = Buffer.alloc(0);

export class RedoneNodes {
  readonly counts: RedoneCounts = { made: 0, changed: 0, gone: 0, leftOut: 0 };
  readonly #left = new Map<string, Buffer | null>();
  /** What was written below the shards. */
  readonly #there = new Set<string>();
  readonly #gone = new Set<string>();

  constructor(shards: readonly WrittenNodes[]) {
    for (const nodes of shards)
      for (const [path, data] of nodes) if (LAID_OVER.has(meaningOf(path).kind)) this.#left.set(path, data);
  }

  /** A node of the file as it is written; null: it is not. Parents come before children. */
  take(node: SnapshotNode): SnapshotNode | null {
    const { path } = node;
    const { kind } = meaningOf(path);
    if (!path.startsWith("/fleet/queue/s/")) return node;
    const data = this.#left.get(path);
    this.#left.delete(path);
    if (data === null || this.#gone.has(parentOf(path))) {
      this.#gone.add(path);
      if (kind === "job") this.counts.gone += 1;
      return null;
    }
    this.#there.add(path);
    if (data === undefined || data.equals(node.data)) return node;
    if (kind === "job") this.counts.changed += 1;
    return { path, data };
  }

  /** What the file does not have, parents first. When all of it was taken. */
  *rest(): Generator<SnapshotNode, void, undefined> {
    const paths = [...this.#left.keys()].sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
    for (const path of paths) {
      const data = this.#left.get(path) ?? null;
      if (data === null || this.#there.has(path)) continue;
      const parent = parentOf(path);
      if (!this.#there.has(parent)) {
        if (!DIRECTORIES.has(meaningOf(parent).kind)) {
          this.counts.leftOut += 1;
          continue;
        }
        this.#there.add(parent);
        yield { path: parent, data: EMPTY };
      }
      this.#there.add(path);
      if (meaningOf(path).kind === "job") this.counts.made += 1;
      yield { path, data };
    }
  }
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));
const depthOf = (path: string): number => path.split("/").length;
