import type { Clock, Committer, Session } from "@sluice/zookeeper";

/** What every store works with: one session, the one committer of the process, a clock and fresh random ids. */
export interface QueueContext {
  readonly session: Session;
  readonly committer: Committer;
  readonly clock: Clock;
  /** A new random id for a claim or an op: 64 bits or more, short, safe in JSON. */
  readonly newId: () => string;
}

/** Who writes: a worker of a stage, or an operator's tool. */
export interface Actor {
  readonly stage: string;
  readonly worker: string;
}
