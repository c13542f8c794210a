/** Who counts as dead, and whose entry may go. Pure: what the tree says in, a verdict out. */
import type { WorkerEntry } from "./entry.ts";

export interface Seen {
  readonly entry: WorkerEntry;
  /** By the server's clock: when the entry was last written. */
  readonly writtenMs: number;
  /** The ephemeral child is there: the worker's session lives. */
  readonly hasSession: boolean;
}

export interface Patience {
  /** A heartbeat may be so old. */
  readonly timeoutMs: number;
  /** The same when the session is over: such a worker cannot beat again without registering. */
  readonly sessionlessMs: number;
  /** How long the entry of a dead one stays for people to see. */
  readonly keepDeadMs: number;
}

/** - declare: it is dead and its entry does not say so yet. - release: it was declared, but whoever did that got no further. */
export type Verdict = "fine" | "declare" | "release" | "purge";

export function judge({ entry, writtenMs, hasSession }: Seen, patience: Patience, nowMs: number): Verdict {
  const age = nowMs - writtenMs;
  if (entry.Status === "ALIVE") {
    return age > (hasSession ? patience.timeoutMs : patience.sessionlessMs) ? "declare" : "fine";
  }
  if (entry.released !== true) return "release";
  return age > patience.keepDeadMs && !hasSession ? "purge" : "fine";
}
