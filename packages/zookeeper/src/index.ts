export type {
  Answer,
  Applied,
  Clock,
  Fault,
  Found,
  MultiAnswer,
  Node,
  Op,
  Read,
  ReadAnswer,
  Refusal,
  Session,
  SessionState,
  Silence,
  Stat,
  Watch,
} from "./port.ts";
export { systemClock } from "./port.ts";
export { MOVE_RANKS, type Committer, type Move, type MoveAnswer, type MoveRank } from "./committer.ts";
