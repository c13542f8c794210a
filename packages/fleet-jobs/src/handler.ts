/** What runs one of the fleet's own jobs. It may be killed at any line and run again, perhaps while an older self still runs. */

export interface FleetJob {
  readonly id: number;
  readonly tenant: string;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** Of this taking of the job. */
  readonly token: string;
  readonly attempt: number;
}

export interface FleetOutcome {
  /** 1xx again later, 2xx done, 4xx failed for good, 5xx again later. */
  readonly exit: number;
  /** JSON: for people, and for whoever comes after. */
  readonly result: string;
  /** Takes the place of the job's data, in the transaction that ends this run. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** It has no further runs, whatever its schedule says: the job is kept as FAILED, with the result as the reason. */
  readonly forGood?: true;
}

export type FleetHandler = (job: FleetJob, signal: AbortSignal) => Promise<FleetOutcome>;

export const EXIT = {
  done: 200,
  /** Done, and somebody should look at what came out. */
  lookAtIt: 210,
  /** The job's data make no sense: trying again would not help. */
  wrongData: 400,
  /** What it is for does not exist any more. */
  ended: 410,
  refused: 422,
  /** Somebody who is needed does not answer. */
  notNow: 503,
} as const;

export const outcome = (exit: number, result: object): FleetOutcome => ({ exit, result: JSON.stringify(result) });
