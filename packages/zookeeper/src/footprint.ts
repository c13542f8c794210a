import type { Op } from "./port.ts";

const WRITTEN = 1;
const CHECKED = 2;
/** Made or removed. */
const STRUCTURAL = 4;
/** Parent of a node that is made or removed. */
const PARENT = 8;

/**
 * The nodes that a set of ops depends on or changes. Two moves clash when the outcome of one can depend on whether the
 * other was applied: both write a node, one writes what the other checks, or one makes or removes the parent of a node
 * that the other makes or removes.
 */
export class Footprint {
  readonly #marks = new Map<string, number>();

  add(ops: readonly Op[]): void {
    for (const op of ops) {
      const structural = isStructural(op);
      this.#mark(op.path, op.op === "check" ? CHECKED : structural ? WRITTEN | STRUCTURAL : WRITTEN);
      if (structural) this.#mark(parentOf(op.path), PARENT);
    }
  }

  clashesWith(op: Op): boolean {
    if (this.#marks.size === 0) return false;
    if (op.op === "check") return this.#has(op.path, WRITTEN);
    if (!isStructural(op)) return this.#has(op.path, WRITTEN | CHECKED);
    return this.#has(op.path, WRITTEN | CHECKED | PARENT) || this.#has(parentOf(op.path), STRUCTURAL);
  }

  #mark(path: string, mark: number): void {
    this.#marks.set(path, (this.#marks.get(path) ?? 0) | mark);
  }

  #has(path: string, marks: number): boolean {
    return ((this.#marks.get(path) ?? 0) & marks) !== 0;
  }
}

function isStructural(op: Op): boolean {
  return op.op === "create" || op.op === "delete";
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}
