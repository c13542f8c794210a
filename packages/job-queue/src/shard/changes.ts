/** What a decision changes in the tree, in the order in which it is to be written. */
import type { Done, Job } from "../records.ts";

export type Change =
  | { readonly kind: "create" | "set"; readonly id: number; readonly job: Job }
  | { readonly kind: "delete"; readonly id: number }
  | { readonly kind: "take-block" | "drop-block"; readonly block: number }
  | { readonly kind: "mark" | "unmark"; readonly group: string }
  | { readonly kind: "done"; readonly id: number; readonly token: string; readonly done: Done };

/** Written together or not at all. */
export type Unit = readonly Change[];
