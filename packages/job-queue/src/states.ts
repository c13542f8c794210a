/**
 * The states of a job and the moves between them. THE table: the commands, the checker of the tree and the documents
 * follow it; nobody else names an edge.
 */

export const STATES = ["QUEUED", "RUNNING", "RUNQUEUED", "PAUSED", "FINISHED", "FAILED", "CANCELLED"] as const;
export type State = (typeof STATES)[number];

/**
 * What can happen to a job. `wake`: its last pending child has ended, or its children are asked for again. `lapse`: its
 * lease ran out. `poison`: it was taken too often without an end, its type is marked as crashing, its times leave
 * the calendar, or nobody has run it for too long.
 */
export const MOVES = [
  "take",
  "finish",
  "repeat",
  "pause",
  "wake",
  "retry",
  "fail",
  "cancel",
  "requeue",
  "lapse",
  "poison",
  "update",
] as const;
export type Move = (typeof MOVES)[number];

export interface StateRow {
  /** Somebody has it in hand: it carries a lease. */
  readonly leased: boolean;
  /** Counts as unfinished for its parent. */
  readonly pending: boolean;
  /** Where each move may lead from here. What is missing is not allowed. */
  readonly moves: Readonly<Partial<Record<Move, readonly State[]>>>;
  readonly says: string;
}

/** A mocked job may be finished and retried in any state; that is why these moves stand in every row. */
const ended = (...itself: State[]): Pick<StateRow["moves"], "finish" | "repeat" | "pause" | "retry"> => ({
  finish: ["FINISHED", ...itself],
  repeat: ["QUEUED"],
  pause: ["PAUSED"],
  retry: ["QUEUED"],
});

// prettier-ignore
export const STATE_TABLE = {
  QUEUED:    { leased: false, pending: true,  moves: { ...ended(), take: ["RUNNING", "RUNQUEUED"], cancel: ["CANCELLED"], requeue: ["QUEUED", "PAUSED"], poison: ["FAILED"], update: ["QUEUED"] },                              says: "waits for its time and for somebody who takes it" },
  RUNNING:   { leased: true,  pending: true,  moves: { ...ended(), fail: ["FAILED"], requeue: ["QUEUED", "PAUSED"], lapse: ["QUEUED"], poison: ["FAILED"], update: ["RUNNING"] },                                             says: "in somebody's hand, under a lease" },
  RUNQUEUED: { leased: true,  pending: true,  moves: { ...ended(), take: ["RUNQUEUED"], fail: ["FAILED"], requeue: ["QUEUED", "PAUSED"], lapse: ["QUEUED"], poison: ["FAILED"], update: ["RUNQUEUED"] }, says: "in somebody's hand, and offered again when its retryAfter has passed" },
  PAUSED:    { leased: false, pending: true,  moves: { ...ended(), take: ["RUNNING", "RUNQUEUED"], cancel: ["CANCELLED"], wake: ["QUEUED"], requeue: ["QUEUED", "PAUSED"], poison: ["FAILED"], update: ["PAUSED"] },          says: "a parent waits for its children, or a child for its parent (once its gate is open it counts as QUEUED)" },
  FINISHED:  { leased: false, pending: false, moves: { ...ended(), wake: ["PAUSED"], requeue: ["QUEUED", "PAUSED"], update: ["FINISHED"] },                                                                                   says: "a child has ended and its parent has not seen it yet, or a parent has ended and keeps failed children" },
  FAILED:    { leased: false, pending: false, moves: { ...ended(), requeue: ["QUEUED", "PAUSED"], update: ["FAILED"] },                                                                                says: "kept until somebody requeues or deletes it" },
  CANCELLED: { leased: false, pending: false, moves: { ...ended(), requeue: ["QUEUED", "PAUSED"], update: ["CANCELLED"] },                                                                             says: "will not run; a parent is told of its child, a job without a parent goes after an hour" },
} as const satisfies Record<State, StateRow>;

const rowOf = (state: State): StateRow => STATE_TABLE[state];

export const isLeased = (state: State): boolean => rowOf(state).leased;
export const isPending = (state: State): boolean => rowOf(state).pending;
export const isAllowed = (from: State, move: Move, to: State): boolean =>
  rowOf(from).moves[move]?.includes(to) === true;

/** Is there any move that leads from one to the other? For those who see only the two states. */
export const isReachable = (from: State, to: State): boolean => MOVES.some((move) => isAllowed(from, move, to));
