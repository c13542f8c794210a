/** Between the measurement and the worker that it measures. */
export interface Order {
  /** Settle so many jobs, then hold the rest back. */
  readonly settle: number;
}

export interface Settled {
  readonly jobs: number;
  readonly seconds: number;
  /** User and system time of the worker's process. */
  readonly cpuUs: number;
}
