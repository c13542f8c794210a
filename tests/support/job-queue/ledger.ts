/** Where handlers do their work: a server that writes down which job was run when, and what the leases say about that. */
import { setTimeout as pause } from "node:timers/promises";
import { meaningOf, records } from "@sluice/job-queue";
import { type Received, serveHttp, type Transaction } from "@sluice/testkit";
import type { ServerResponse } from "node:http";

export interface Run {
  readonly job: number;
  /** The lease under which it was run, from those who say so. */
  readonly lease: string | null;
  readonly startMs: number;
  /** When it was answered, or when whoever ran it was gone. */
  endMs: number | null;
}

export interface Ledger {
  readonly url: string;
  readonly runs: readonly Run[];
  /** A run of this job is waited for by somebody, and gets no answer. */
  isHeld(job: number): boolean;
  close(): Promise<void>;
}

/** POST with `Job-Ids`, the way `http` handlers are called. Below /held a job's first run gets no answer. */
export async function startLedger(workMs: number): Promise<Ledger> {
  const runs: Run[] = [];
  const held = new Set<number>();
  const server = await serveHttp(({ path, headers }, response) => {
    const begun = idsIn(headers).map((job): Run => ({
      job,
      lease: leaseIn(headers),
      startMs: Date.now(),
      endMs: null,
    }));
    const isFirst = begun.every(({ job }) => !held.has(job));
    runs.push(...begun);
    response.once("close", () => {
      for (const run of begun) run.endMs = Date.now();
    });
    if (path === "/held" && isFirst) for (const { job } of begun) held.add(job);
    else void pause(workMs).then(() => answer(response, begun.length));
  });
  const isOpen = (job: number): boolean => runs.some((run) => run.job === job && run.endMs === null);
  return { url: server.url, runs, isHeld: (job) => held.has(job) && isOpen(job), close: () => server.close() };
}

const answer = (response: ServerResponse, jobs: number): void =>
  void response.end(Array.from({ length: jobs }, () => "200 done\n").join(""));
const idsIn = (headers: Received["headers"]): number[] => String(headers["job-ids"]).split(",").map(Number);
const leaseIn = (headers: Received["headers"]): string | null =>
  typeof headers["job-lease"] === "string" ? headers["job-lease"] : null;

export interface Leased {
  readonly token: string;
  readonly worker: string;
  readonly fromMs: number;
  untilMs: number;
}

/** Every lease that ever was, by job, in the order of the log. */
export function leasesIn(transactions: Iterable<Transaction>): ReadonlyMap<number, readonly Leased[]> {
  const leases = new Map<number, Leased[]>();
  for (const { timeMs, ops } of transactions) {
    for (const op of ops) {
      const meaning = meaningOf(op.path);
      if (meaning.kind !== "job" || op.op === "check") continue;
      const read = op.op === "delete" ? null : records.job.decode(op.data);
      const lease = read?.ok === true ? read.value.lease : undefined;
      const known = leases.get(meaning.id) ?? [];
      const last = known.at(-1);
      if (last !== undefined && last.token !== lease?.token) last.untilMs = Math.min(last.untilMs, timeMs);
      if (lease !== undefined && last?.token !== lease.token)
        known.push({ token: lease.token, worker: lease.worker, fromMs: timeMs, untilMs: Infinity });
      leases.set(meaning.id, known);
    }
  }
  return leases;
}

/** Runs of one job under one lease, or at one time under two leases that both lived. */
export function doubleRuns(runs: readonly Run[], leases: ReadonlyMap<number, readonly Leased[]>): readonly string[] {
  const findings: string[] = [];
  for (const job of new Set(runs.map((run) => run.job))) {
    const spans = runs
      .filter((run) => run.job === job)
      .map((run) => ({ run, lease: leaseOf(run, leases.get(job) ?? []) }))
      .sort((a, b) => a.run.startMs - b.run.startMs);
    for (const [at, { run, lease }] of spans.entries()) {
      const before = spans[at - 1];
      if (lease === null) findings.push(`job ${job} was run without a lease`);
      else if (before?.lease?.token === lease.token)
        findings.push(`job ${job} was run twice under lease ${lease.token}`);
      else if (before?.lease != null && Math.min(endOf(before.run), before.lease.untilMs) > run.startMs)
        findings.push(`job ${job} was run under leases ${before.lease.token} and ${lease.token} at once`);
    }
  }
  return findings;
}

/** Who does not say under which lease it runs a job has the latest one that was given before it began. */
function leaseOf({ lease, startMs }: Run, leases: readonly Leased[]): Leased | null {
  if (lease !== null) return leases.find(({ token }) => token === lease) ?? null;
  return leases.findLast(({ fromMs }) => fromMs <= startMs) ?? null;
}

const endOf = ({ endMs }: Run): number => endMs ?? Infinity;
