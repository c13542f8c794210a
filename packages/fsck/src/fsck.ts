/**
 * Looks the whole tree over while it is in use. First names, then each job and batch in small pages: what looks wrong is
 * only a suspicion, for the tree moves between two reads. It becomes a finding when two fresh looks, each from one
 * moment, see the same thing in the same versions.
 */
import { type BatchId, HOLDS_SPACE, type JobId, paths, readBeside } from "@sluice/queue-core";
import type { Session } from "@sluice/zookeeper";
import { judgeAccess } from "./access-lists.ts";
import { judgeAudit } from "./audit-rule.ts";
import { batchStamp, judgeBatch } from "./batch-rules.ts";
import { judgeFolders, type ListFolders } from "./folder-rule.ts";
import type { JobFacts, RuleContext, Subject, Suspicion } from "./facts.ts";
import { jobStamp, judgeJob } from "./job-rules.ts";
import { judgeObjectLocks } from "./object-locks.ts";
import { type JobNames, readNames } from "./names.ts";
import { type BatchSubject, readBatchNow } from "./read-batch.ts";
import { type JobSubject, readJobNow, readJobPage } from "./read-job.ts";
import { type Finding, type FsckReport, makeReport } from "./report.ts";

export interface FsckOptions {
  /** NodeDump's 120 s. */
  readonly lockMs?: number;
  /** NodeDump's 3600 s. */
  readonly failMs?: number;
  /** What jobs in hand may need together, in bytes; without it I-36 is not judged. */
  readonly spaceBytesMax?: number;
  /** Folders of batches in the working folder; without it FOLDER is not judged. */
  readonly folders?: ListFolders;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: { readonly looked: number; readonly of: number }) => void;
}

export type FsckResult =
  { readonly kind: "looked"; readonly report: FsckReport } | { readonly kind: "lost" } | { readonly kind: "aborted" };

const LOCK_MS = 120_000;
const FAIL_MS = 3_600_000;
/** Eight nodes each: an answer of some 100 KB. */
const PAGE_JOBS = 50;
/** How often a thing that keeps moving is looked at: what moves is not stuck. */
const LOOKS_MAX = 5;

/** Lets others have their turn, in this process and on the server. */
const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export async function fsck(session: Session, options: FsckOptions = {}): Promise<FsckResult> {
  const names = await readNames(session);
  if (names === null) return { kind: "lost" };
  const beside = await readBeside(session);
  if (!beside.ok) return { kind: "lost" };
  const context = contextOf(session, { sessions: names.sessions, beside: beside.value }, options);
  const findings: Finding[] = names.suspicions.map((each) => findingOf(each, { kind: "tree" }, context));
  let unconfirmed = 0;
  let space = 0;
  let looked = 0;
  const of = names.jobs.size + names.batches.size;
  const confirm = async (subject: Subject): Promise<boolean> => {
    const confirmed = await confirmedFindings(session, subject, context);
    if (confirmed === null) return false;
    if (confirmed.length === 0) unconfirmed += 1;
    for (const each of confirmed) findings.push(each);
    return true;
  };

  const jobs = [...names.jobs];
  for (let i = 0; i < jobs.length; i += PAGE_JOBS) {
    if (options.signal?.aborted === true) return { kind: "aborted" };
    const page = jobs.slice(i, i + PAGE_JOBS).map(([id, listed]) => ({ subject: jobSubject(id, listed), listed }));
    const facts = await readJobPage(session, page);
    if (facts === null) return { kind: "lost" };
    for (const [k, job] of facts.entries()) {
      space += spaceOf(job);
      const subject = page[k]?.subject;
      if (subject === undefined || judgeJob(job, context).length === 0) continue;
      if (!(await confirm(subject))) return { kind: "lost" };
    }
    looked += page.length;
    options.onProgress?.({ looked, of });
    await pause();
  }
  for (const [id, uuids] of names.batches) {
    if (options.signal?.aborted === true) return { kind: "aborted" };
    const subject: BatchSubject = { kind: "batch", id, uuids };
    const facts = await readBatchNow(session, subject);
    if (facts === null) return { kind: "lost" };
    if (facts === "again" || judgeBatch(facts, context).length > 0) {
      if (!(await confirm(subject))) return { kind: "lost" };
    }
    looked += 1;
    options.onProgress?.({ looked, of });
    await pause();
  }
  const others = [
    await judgeAudit(session, pause),
    await judgeObjectLocks(session, context),
    await judgeAccess(session, pause),
    judgeSpace(space, options),
    await judgeFolders(session, options.folders, context),
  ];
  for (const suspicions of others) {
    if (suspicions === null) return { kind: "lost" };
    for (const each of suspicions) findings.push(findingOf(each, { kind: "tree" }, context));
  }
  const seen = { jobs: names.jobs.size, batches: names.batches.size, unconfirmed };
  return { kind: "looked", report: makeReport(findings, seen) };
}

/** Who else is here. */
type Others = Pick<RuleContext, "sessions" | "beside">;

export function contextOf(session: Session, others: Others, options: FsckOptions): RuleContext {
  const { lockMs = LOCK_MS, failMs = FAIL_MS } = options;
  return { nowMs: session.serverNowMs(), lockMs, failMs, ...others };
}

const jobSubject = (id: JobId, listed: JobNames): JobSubject => ({
  kind: "job",
  id,
  entries: listed.entries,
  batches: [...new Set<BatchId>(listed.buckets.map(({ batch }) => batch))],
  callbacks: listed.callbacks,
});

function spaceOf(job: JobFacts): number {
  const state = job.status?.value?.status;
  return state !== undefined && HOLDS_SPACE.includes(state) ? (job.space?.value ?? 0) : 0;
}

function judgeSpace(space: number, { spaceBytesMax }: FsckOptions): readonly Suspicion[] {
  if (spaceBytesMax === undefined || space <= spaceBytesMax) return [];
  const what = `jobs in hand need ${space} bytes, ${spaceBytesMax} are allowed`;
  const human = "pause the provisioner until jobs have ended, or delete failed jobs whose files nobody needs";
  return [{ rule: "I-36", path: paths.space, what, sinceMs: null, mend: { human } }];
}

/** Suspicions about it as it is now, with a stamp of what was read; null = no answer. */
export async function lookNow(
  session: Session,
  subject: Subject,
  context: RuleContext,
): Promise<{ readonly stamp: string; readonly suspicions: readonly Suspicion[] } | "again" | null> {
  switch (subject.kind) {
    case "job": {
      const job = await readJobNow(session, subject);
      if (job === null || job === "again") return job;
      return { stamp: jobStamp(job), suspicions: judgeJob(job, context) };
    }
    case "batch": {
      const batch = await readBatchNow(session, subject);
      if (batch === null || batch === "again") return batch;
      return { stamp: batchStamp(batch), suspicions: judgeBatch(batch, context) };
    }
    case "tree":
      return { stamp: "", suspicions: [] };
  }
}

async function confirmedFindings(
  session: Session,
  subject: Subject,
  context: RuleContext,
): Promise<readonly Finding[] | null> {
  let before: string | null = null;
  for (let look = 0; look < LOOKS_MAX; look++) {
    const now = await lookNow(session, subject, context);
    if (now === null) return null;
    if (now !== "again" && now.suspicions.length === 0) return [];
    if (now !== "again" && now.stamp === before) {
      return now.suspicions.map((each) => findingOf(each, subject, context));
    }
    before = now === "again" ? null : now.stamp;
  }
  return [];
}

function findingOf(suspicion: Suspicion, subject: Subject, context: RuleContext): Finding {
  const { rule, path, what, sinceMs, mend, warnForMs = context.failMs } = suspicion;
  const young = rule === "NAMES" || (sinceMs !== null && context.nowMs - sinceMs < warnForMs);
  const help = "human" in mend ? { human: mend.human } : { repair: mend.says };
  return { rule, severity: young ? "warn" : "fail", path, what, ...help, subject };
}
