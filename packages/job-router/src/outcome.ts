/** What became of a request. */
import type { Command, Reply, Status } from "@sluice/job-queue";

export type Outcome =
  | { readonly kind: "reply"; readonly reply: Reply }
  /** It was given to an owner whose term ended before the answer was certain: done or not. */
  | { readonly kind: "unknown" }
  /** Surely not done: nobody who owns the shard could be reached in time. */
  | { readonly kind: "unavailable"; readonly why: string };

export const UNKNOWN: Outcome = { kind: "unknown" };

/** The answer to what is surely not done. */
export const NO_OWNER: Status = { code: 503, text: "Nobody owns this shard just now" };

/** As the doors see it: null when nobody knows. */
export function answerOf(outcome: Outcome): Reply | null {
  if (outcome.kind === "unknown") return null;
  return outcome.kind === "reply" ? outcome.reply : { status: NO_OWNER, content: { kind: "none" } };
}

const HARMLESS: ReadonlySet<Command["verb"]> = new Set([
  "QueryJob",
  "DescribeJob",
  "ListJobs",
  "ListRuns",
  "CountJobs",
  "ListCrashed",
  "RenewLeases",
  "ReleaseWorker",
  "ExpireJobs",
  // Behind the cursor, its jobs are answered as done.
  "IngestAdds",
]);

/** Asked again, it does no harm: what is not known need not stay so. The end of a run is known by its lease. */
export const mayBeAskedAgain = (command: Command): boolean =>
  HARMLESS.has(command.verb) || (command.verb === "FinishJob" && command.lease !== null);

/** What is asked again may be done already, by ourselves: then the end of the run is the caller's own. */
export const askedAgain = (command: Command): Command =>
  "remembered" in command ? { ...command, remembered: false } : command;
