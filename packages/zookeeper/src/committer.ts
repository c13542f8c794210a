import type { MultiAnswer, Op, Session } from "./port.ts";

/** Order inside a group: an operator's word first, then work that ends, then work that begins. */
export const MOVE_RANKS = ["operator", "commit", "claim"] as const;
export type MoveRank = (typeof MOVE_RANKS)[number];

/** One indivisible change. Its ops are applied together or not at all, whatever else shares their multi. */
export interface Move {
  readonly rank: MoveRank;
  /**
   * Ops that several moves may carry word for word (the check of /fleet/holds, the CAS of /fleet/space). Moves whose
   * shared ops are identical may share a multi, in which they appear once; if one is refused, so are all who carry it.
   */
  readonly shared?: readonly Op[];
  readonly ops: readonly Op[];
}

/** `index` points into [...shared, ...ops] of the move it answers. */
export type MoveAnswer = MultiAnswer;

export interface Committer {
  readonly session: Session;
  submit(move: Move): Promise<MoveAnswer>;
}
