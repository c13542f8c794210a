/** Whether scaling cost anything: what became of every job, by reports, callbacks, the services' logs and the transaction log. */
import { checkInvariants, describeViolation } from "@sluice/testkit";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Drained, jobsOf } from "./wave.ts";

export interface Verdict {
  readonly jobs: number;
  readonly completed: number;
  /** Batches that are not Completed. */
  readonly failedBatches: number;
  readonly callbacks: number;
  readonly callbacksTwice: number;
  /** How often a stage settled a job, by outcome; `done` = jobs times stages. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Why jobs did not go on at once. */
  readonly putOff: readonly string[];
  /** Replicas that had jobs in hand when they were told to end, and how many jobs that were. */
  readonly endedAtWork: { readonly replicas: number; readonly jobs: number };
  readonly deaths: readonly string[];
  readonly transactions: number;
  readonly violations: readonly string[];
}

export interface Evidence {
  readonly drained: readonly Drained[];
  readonly callbackKeys: readonly string[];
  readonly logsDir: string;
  readonly deaths: readonly string[];
  readonly transactionLogDir: string;
}

export async function judge(evidence: Evidence): Promise<Verdict> {
  const { drained, callbackKeys, deaths } = evidence;
  const checked = checkInvariants({ logDir: evidence.transactionLogDir, atRest: true });
  return {
    jobs: jobsOf(drained),
    completed: drained.reduce((sum, { completed }) => sum + completed, 0),
    failedBatches: drained.filter(({ status }) => status !== "Completed").length,
    callbacks: callbackKeys.length,
    callbacksTwice: callbackKeys.length - new Set(callbackKeys).size,
    ...(await readLogs(evidence.logsDir)),
    deaths,
    transactions: checked.transactions,
    violations: checked.violations.map(describeViolation),
  };
}

/** Stages through which every job goes, and settles there. */
const JOB_STAGES = 7;

/** No job lost, failed, or done twice. What was handed back or tried again is shown and no fault. */
export const isClean = ({
  jobs,
  completed,
  failedBatches,
  callbacksTwice,
  outcomes,
  deaths,
  violations,
}: Verdict): boolean =>
  completed === jobs &&
  failedBatches === 0 &&
  callbacksTwice === 0 &&
  outcomes["done"] === jobs * JOB_STAGES &&
  ["lost", "fail", "quarantine"].every((outcome) => outcomes[outcome] === undefined) &&
  deaths.length === 0 &&
  violations.length === 0;

interface Line {
  readonly msg: string;
  readonly outcome?: string;
  readonly stage?: string;
  readonly why?: string;
  readonly jobs?: readonly unknown[];
}

/** Not by metrics: the counters of a process that ended are gone. */
async function readLogs(logsDir: string): Promise<Pick<Verdict, "outcomes" | "putOff" | "endedAtWork">> {
  const outcomes: Record<string, number> = {};
  const putOff: string[] = [];
  const endedAtWork = { replicas: 0, jobs: 0 };
  for (const name of await readdir(logsDir)) {
    for (const text of (await readFile(join(logsDir, name), "utf8")).split("\n")) {
      if (!/"(job settled|draining)"/.test(text)) continue;
      const { msg, outcome = "", stage = "", why, jobs = [] } = JSON.parse(text) as Line;
      if (msg === "job settled") outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (why !== undefined) putOff.push(`${stage}: ${outcome}: ${why}`);
      if (jobs.length > 0) {
        endedAtWork.replicas++;
        endedAtWork.jobs += jobs.length;
      }
    }
  }
  return { outcomes, putOff, endedAtWork };
}
