/** The job-api as the runner needs it. */
import { attemptsIn, type Failure, failureText, type JobClient, type Lease, type Outcome } from "@sluice/job-client";
import type { FairlyTakenJob, Handler, NewJob } from "@sluice/wire";
import type { Ended, JobInHand } from "./types.ts";

/** done: it stands. lost: the job is not ours. unknown: nobody knows; the lease will tell. */
export type Settled = "done" | "lost" | "unknown";

export type FoundHandler =
  { readonly kind: "found"; readonly handler: Handler } | { readonly kind: "none" | "unknown"; readonly why: string };

export interface History {
  /** How often it was taken, with this time. */
  readonly attempts: number;
  /** When it was first tried; null: this is the first time. */
  readonly firstTriedMs: number | null;
}

export interface JobQueue {
  take(limit: number, waitMs: number, signal: AbortSignal): Promise<readonly JobInHand[] | Failure>;
  /** The ids of those that are no longer ours. */
  renew(leases: readonly Lease[]): Promise<Outcome<readonly number[]>>;
  finish(job: JobInHand, ended: Ended): Promise<Settled>;
  retry(job: JobInHand, ended: Ended, delaySeconds: number): Promise<Settled>;
  fail(job: JobInHand, ended: Ended): Promise<Settled>;
  step(job: JobInHand, step: string, data: JobInHand["data"]): Promise<Settled>;
  /** False: not now. What can never be made is left out, and said. */
  create(tenant: string, jobs: readonly NewJob[]): Promise<{ readonly made: boolean; readonly refused: string | null }>;
  handler(tenant: string, type: string): Promise<FoundHandler>;
  /** Null: no answer. */
  history(job: JobInHand): Promise<History | null>;
  releaseWorker(worker: string): Promise<boolean>;
}

export interface JobQueueOptions {
  readonly tenants: readonly string[] | null;
  readonly types: readonly string[] | null;
  /** What we run without a handler; all else that has never had one belongs to workers of its own. */
  readonly besides: readonly string[];
}

export function queueOf(client: JobClient, { tenants, types, besides }: JobQueueOptions): JobQueue {
  const wanted = {
    handled: true,
    besides: [...besides],
    ...(tenants === null ? {} : { tenants: [...tenants] }),
    ...(types === null ? {} : { types: [...types] }),
  };
  const of = ({ tenant }: JobInHand): JobClient => client.forTenant(tenant);
  return {
    async take(limit, waitMs, signal) {
      const taken = await client.take({ ...wanted, limit, waitMs, signal });
      return taken.ok ? taken.value.map(inHand) : taken;
    },
    renew: (leases) => client.renew([...leases]),
    finish: async (job, ended) => {
      const { onFinish } = ended;
      const end = { ...endOf(job, ended), ...(onFinish === undefined ? {} : { onFinish }) };
      return settledBy(await of(job).finish(job.id, end));
    },
    retry: async (job, ended, delay) => settledBy(await of(job).retry(job.id, { ...endOf(job, ended), delay })),
    fail: async (job, ended) => settledBy(await of(job).fail(job.id, endOf(job, ended))),
    step: async (job, step, data) =>
      settledBy(await of(job).update(job.id, { step, data: { ...data }, lease: job.lease })),
    async create(tenant, jobs) {
      const made = await client.forTenant(tenant).createJobs(jobs);
      if (made.ok) return { made: true, refused: null };
      const isFinal = made.kind === "refused" && made.refusal.status < 500 && made.refusal.status !== 429;
      return { made: isFinal, refused: failureText(made) };
    },
    async handler(tenant, type) {
      const found = await client.forTenant(tenant).handler(type);
      if (found.ok) return { kind: "found", handler: found.value };
      const isNone = found.kind === "refused" && found.refusal.status === 404;
      return { kind: isNone ? "none" : "unknown", why: failureText(found) };
    },
    async history(job) {
      const described = await of(job).describe(job.id);
      if (!described.ok) return null;
      const { events, runs } = described.value;
      const tried = runs.flatMap(({ started }) => (started === null ? [] : [Date.parse(started)]));
      return {
        attempts: Math.max(attemptsIn(events), runs.length + 1),
        firstTriedMs: tried.length === 0 ? null : tried.reduce((least, each) => Math.min(least, each)),
      };
    },
    releaseWorker: async (worker) => (await client.releaseWorker(worker)).ok,
  };
}

const inHand = (job: FairlyTakenJob): JobInHand => ({
  tenant: job.tenant,
  id: job.jobID,
  type: job.name,
  lease: job.lease,
  data: job.data,
  // "2026-11-16 13:00:00", UTC.
  createdMs: Date.parse(`${job.created.replace(" ", "T")}Z`),
  repeats: job.repeat !== "",
});

const endOf = ({ lease }: JobInHand, { exit, result, data, then }: Ended) => ({
  lease,
  exitCode: exit,
  ...(result === undefined ? {} : { result }),
  ...(data === undefined ? {} : { data: { ...data } }),
  ...(then === undefined ? {} : { then: [...then] }),
});

function settledBy(outcome: Outcome<unknown>): Settled {
  if (outcome.ok) return "done";
  return outcome.kind === "refused" && outcome.refusal.status < 500 ? "lost" : "unknown";
}
