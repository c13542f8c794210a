export {
  JobClient,
  type JobClientOptions,
  openJobs,
  type Taking,
  type Waiting,
  type Wanted,
  type WantedJobs,
} from "./client.ts";
export {
  attemptsIn,
  Ending,
  type EndingOptions,
  fail,
  finish,
  type Patience,
  retry,
  type RetryOptions,
} from "./endings.ts";
export { type Lease, LEASE_MS, LeaseKeeper, type Lost } from "./lease-keeper.ts";
export { type Failure, failureText, type Outcome } from "./outcome.ts";
export type { How, TransportOptions } from "./transport.ts";
export type { Handle, Tools, WorkEvent, Working, WorkOptions } from "./work.ts";
