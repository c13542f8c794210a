/** A duty at work in one session. */
export interface RunningDuty {
  readonly name: string;
  /** After the first bell, when all that was in hand is settled. */
  readonly ended: Promise<void>;
  /** Gives back what is still in hand; answers with its ids. */
  abandon(): Promise<readonly string[]>;
}
