/** The end of a run: new jobs that it asked for, then what becomes of it. */
import { SYSTEM_TENANT } from "@sluice/fleet-jobs";
import type { Log } from "@sluice/stage-runtime";
import { redactJson } from "@sluice/wire";
import { goWithOneEnd, linesOf } from "../decide/job-lines.ts";
import { type NextStep, nextStep, type RetryRules } from "../decide/next-step.ts";
import type { JobQueue, Settled } from "./queue.ts";
import type { Ended, JobInHand } from "./types.ts";

export interface SettlePorts {
  readonly queue: Pick<JobQueue, "create" | "finish" | "retry" | "fail" | "history">;
  readonly nowMs: () => number;
  readonly log: Log;
  readonly onSettled: (step: NextStep, settled: Settled) => void;
}

const FLEET_FAILED = "a job of the fleet failed: it is not tried again";
const WHY_CHARACTERS = 1_000;
const LOG_LINES = 100;
const LOG_LINE_CHARACTERS = 1_000;

export async function settle(job: JobInHand, given: Ended, rules: RetryRules, ports: SettlePorts): Promise<void> {
  const ended = await withNewJobs(job, given, ports);
  const step = await decided(job, ended, rules, ports);
  const settled = await carryOut(job, ended, step, ports);
  const facts = { tenant: job.tenant, type: job.type, job: job.id, exit: ended.exit, code: step.code, settled };
  if (step.kind === "abandon") ports.log.error({ ...facts, why: step.why }, "job abandoned");
  else if (step.code === "failed" && job.tenant === SYSTEM_TENANT)
    // Whom it is for may be gone, and nobody tries it again: only an operator reads it.
    ports.log.warn(
      { ...facts, next: step.kind, why: redactJson(ended.result ?? "").slice(0, WHY_CHARACTERS) },
      FLEET_FAILED,
    );
  else ports.log.info({ ...facts, next: step.kind }, "job completing");
  ports.onSettled(step, settled);
}

/** The past is asked for only where it could matter: most runs end well, and most jobs are young. */
async function decided(job: JobInHand, ended: Ended, rules: RetryRules, ports: SettlePorts): Promise<NextStep> {
  const { repeats } = job;
  const { exit, forGood = false } = ended;
  const nowMs = ports.nowMs();
  const young = nextStep({ exit, forGood, repeats, attempts: 1, ageMs: nowMs - job.createdMs }, rules);
  if (young.kind !== "abandon" && (young.kind !== "retry" || rules.maxAttempts === null)) return young;
  const history = await ports.queue.history(job);
  // A job that was made for later, or waited long for its turn, is as old as its first try: it gets the others, too.
  const ageMs = nowMs - (history?.firstTriedMs ?? nowMs);
  return nextStep({ exit, repeats, attempts: history?.attempts ?? 1, ageMs }, rules);
}

/**
 * With the end, so that none is lost and none is made by who has lost the job. More than go with one are made before it: a
 * crash in between makes those twice, as a repeated run would. They are the tenant's own, whatever the line says.
 */
async function withNewJobs(job: JobInHand, ended: Ended, { queue, log }: SettlePorts): Promise<Ended> {
  const { jobs, log: lines } = linesOf(ended.lines ?? []);
  const facts = { tenant: job.tenant, type: job.type, job: job.id };
  for (const line of lines.slice(0, LOG_LINES))
    log.info({ ...facts, line: line.slice(0, LOG_LINE_CHARACTERS) }, "job says");
  if (lines.length > LOG_LINES) log.info({ ...facts, dropped: lines.length - LOG_LINES }, "job says more than is kept");
  if (jobs.length === 0) return ended;
  const asked = jobs.map(({ type, payload }) => ({ name: type, data: { payload } }));
  if (goWithOneEnd(jobs)) return { ...ended, then: asked };
  const { made, refused } = await queue.create(job.tenant, asked);
  if (refused !== null)
    log.warn({ ...facts, jobs: jobs.length, why: refused }, "jobs that a job asked for were not made");
  return made ? ended : { exit: 503, result: "the jobs that it asked for could not be made" };
}

function carryOut(job: JobInHand, ended: Ended, step: NextStep, { queue }: SettlePorts): Promise<Settled> {
  switch (step.kind) {
    case "finish":
      return queue.finish(job, ended);
    case "retry":
      return queue.retry(job, ended, step.delaySeconds);
    case "end":
      return queue.fail(job, ended);
    case "abandon":
      return queue.fail(job, { ...ended, result: `${step.why}; ${ended.result ?? "no result"}`.slice(0, 10_000) });
  }
}
