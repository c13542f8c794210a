/** Whose the node with our name is, and for how long it is worth waiting for it to go. Pure. */

/** Who has our name. */
export interface Holder {
  readonly session: bigint;
  /** Of the node. */
  readonly version: number;
  /** null: of an older version, or nothing can be read. */
  readonly instance: string | null;
  readonly sessionTimeoutMs: number | null;
  /** For people. */
  readonly where: string;
}

export interface Self {
  readonly session: bigint;
  readonly instance: string;
  readonly sessionTimeoutMs: number;
}

export type HolderVerdict =
  /** Made by this session: an answer was lost. */
  | "registered"
  /** Left by an earlier session of this very process. */
  | "own-earlier"
  /** Perhaps left by a process that died. */
  | "wait"
  /** It outlived every session that a dead process can have left. */
  | "rival";

/** The largest that ZooKeeper grants unless it is configured otherwise, for a holder that does not say. */
const LARGEST_TIMEOUT_MS = 40_000;
/** The server counts in ticks, and ends a session up to one of them late. */
const TIMEOUTS = 2;

export const waitsAtMostMs = (holder: Holder, self: Self): number =>
  TIMEOUTS * Math.max(self.sessionTimeoutMs, holder.sessionTimeoutMs ?? LARGEST_TIMEOUT_MS);

/** `undisturbedMs`: since we met this holder or last lost the connection; a new leader gives every session its whole time again. */
export function judgeHolder(holder: Holder, self: Self, undisturbedMs: number): HolderVerdict {
  if (holder.session === self.session) return "registered";
  if (holder.instance === self.instance) return "own-earlier";
  return undisturbedMs > waitsAtMostMs(holder, self) ? "rival" : "wait";
}
