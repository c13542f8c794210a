/** What runs have to do with each other: jobs in hand, how they end, who runs them. */
import type { Handler, NewJob } from "@sluice/wire";

export interface JobInHand {
  readonly tenant: string;
  readonly id: number;
  /** The job's name. */
  readonly type: string;
  readonly lease: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly createdMs: number;
  readonly repeats: boolean;
}

/** How a run ended, before anybody decides what follows from it. */
export interface Ended {
  readonly exit: number;
  readonly result?: string | undefined;
  /** What it printed: `J: ` lines among it. */
  readonly lines?: readonly string[];
  /** The type that its result is left to, if the job names none itself. */
  readonly onFinish?: string;
  /** Jobs that are made with the end, or not at all. */
  readonly then?: readonly NewJob[];
  /** The job has no further runs, whatever its schedule says. Of the fleet's own jobs alone. */
  readonly forGood?: true;
  /** Takes the place of the job's data. */
  readonly data?: Readonly<Record<string, unknown>>;
}

/** Jobs of one tenant and type that are run together. */
export interface Batch {
  readonly tenant: string;
  readonly type: string;
  readonly jobs: readonly JobInHand[];
}

export interface RunPorts {
  /** Aborts when the job is no longer ours, or everything is to end: what it does from then on counts for nothing. */
  readonly signalOf: (job: JobInHand) => AbortSignal;
  readonly started: (job: JobInHand) => void;
  /** Once for each job that was not aborted. */
  readonly settle: (job: JobInHand, ended: Ended) => Promise<void>;
  /** Shows how far it is, and keeps what is known about it. */
  readonly step: (job: JobInHand, step: string, data?: Readonly<Record<string, unknown>>) => Promise<void>;
}

export interface Runner {
  /** Jobs that are handed over at once, when the handler does not say. */
  readonly batch: number;
  run(batch: Batch, handler: Handler, ports: RunPorts): Promise<void>;
  close(): Promise<void>;
}

/** Asked anew: a signal changes while one waits. */
export const isOver = (signal: AbortSignal): boolean => signal.aborted;

/** A job that came with a payload has that; others have all their data. */
export function payloadOf({ data }: Pick<JobInHand, "data">): string {
  const { payload } = data;
  return typeof payload === "string" ? payload : JSON.stringify(data);
}
