/** What a decision changes in the tree, in the order in which it is to be written. */
import type { Crashed, Done, Guest, Job } from "../records.ts";

export type Change =
  | { readonly kind: "create" | "set"; readonly id: number; readonly job: Job }
  | { readonly kind: "delete"; readonly id: number }
  /** `reserve-block`: its ids are somebody else's, who may never use them; it is made when the first job comes. */
  | { readonly kind: "take-block" | "reserve-block" | "make-block" | "drop-block"; readonly block: number }
  | { readonly kind: "guest"; readonly name: string; readonly guest: Guest }
  | { readonly kind: "crashed"; readonly crashed: Crashed }
  | { readonly kind: "mark" | "unmark"; readonly group: string }
  | { readonly kind: "done"; readonly id: number; readonly token: string; readonly done: Done };

/** Written together or not at all. */
export type Unit = readonly Change[];
