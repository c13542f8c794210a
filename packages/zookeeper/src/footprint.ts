import type { Op } from "./port.ts";

/**
 * The nodes that a set of ops depends on or changes. Two moves clash when the outcome of one can depend on whether the
 * other was applied: both write a node, one writes what the other checks, or one makes or removes the parent of a node
 * that the other makes or removes.
 */
export class Footprint {
  readonly #written = new Set<string>();
  readonly #checked = new Set<string>();
  /** Made or removed, and the parents of those. */
  readonly #structural = new Set<string>();
  readonly #parents = new Set<string>();

  add(ops: readonly Op[]): void {
    for (const op of ops) {
      if (op.op === "check") this.#checked.add(op.path);
      else this.#written.add(op.path);
      if (op.op === "create" || op.op === "delete") {
        this.#structural.add(op.path);
        this.#parents.add(parentOf(op.path));
      }
    }
  }

  clashesWith(op: Op): boolean {
    if (this.#written.has(op.path)) return true;
    if (op.op === "check") return false;
    if (this.#checked.has(op.path)) return true;
    return op.op !== "set" && (this.#parents.has(op.path) || this.#structural.has(parentOf(op.path)));
  }
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
