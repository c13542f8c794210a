export { openJobRouter } from "./router.ts";
export type { JobRouter, ReadyType, RouterStats, ShardView } from "./types.ts";
export type { SeatState } from "./seats/seat.ts";
export { answerOf, NO_OWNER, type Outcome } from "./outcome.ts";
export { ROUTER_METRICS, type RouterHooks, type TermEnd } from "./metrics.ts";
export type { Take, TakenJob } from "./take/take.ts";
export type {
  Address,
  Archiving,
  Later,
  OtherEnsembles,
  PeerPorts,
  RouterLog,
  RouterPorts,
  SessionSource,
} from "./ports.ts";
