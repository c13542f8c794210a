/** Why a job waits, written where people look; only when it has changed, and not too often. */
import {
  type Candidate,
  explained,
  type JobId,
  type JobState,
  paths,
  peek,
  type QueueEntry,
  records,
} from "@sluice/queue-core";
import type { Scope } from "../engine/scope.ts";

export interface WaitingJob {
  readonly entry: QueueEntry;
  readonly why: string;
}

/** A reason with a figure in it changes all the time; people need not see every figure. */
const REWRITE_AFTER_MS = 30_000;
/** Figures are kept up to date for so many that are next. */
const FIGURES_SHOWN = 100;
const TOLD_AT_ONCE_MAX = 500;

interface Told {
  readonly why: string;
  readonly atMs: number;
}

/**
 * Whose reason is to be written now, in the order of the queue: first of those that have none, so that none of tens of thousands is
 * without one; then of those that wait for something else than before; figures alone only for those that are next. Pure.
 */
export function newsOf(
  waiting: readonly WaitingJob[],
  told: ReadonlyMap<JobId, Told>,
  nowMs: number,
): readonly WaitingJob[] {
  const untold: WaitingJob[] = [];
  const changed: WaitingJob[] = [];
  const figures: WaitingJob[] = [];
  for (const [place, job] of waiting.entries()) {
    const before = told.get(job.entry.id);
    if (before === undefined) untold.push(job);
    else if (before.why === job.why || nowMs - before.atMs < REWRITE_AFTER_MS) continue;
    else if (withoutFigures(before.why) !== withoutFigures(job.why)) changed.push(job);
    else if (place < FIGURES_SHOWN) figures.push(job);
  }
  return [...figures, ...[...untold, ...changed].slice(0, TOLD_AT_ONCE_MAX - figures.length)];
}

const withoutFigures = (why: string): string => why.replace(/\d[\d.]* ?[kMGT]?B?/g, "#");

export class Reasons {
  readonly #scope: Scope;
  #told = new Map<JobId, Told>();

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  async tell(state: JobState, waiting: readonly WaitingJob[]): Promise<void> {
    this.#forgetGone(waiting);
    const news = newsOf(waiting, this.#told, this.#scope.queue.clock.monotonicMs());
    if (news.length === 0) return;
    const looked = await peek(
      this.#scope.queue.session,
      state,
      news.map(({ entry }) => entry),
    );
    if (!looked.ok) return;
    await Promise.all(looked.value.map((candidate, i) => this.#write(candidate, news[i]?.why ?? "")));
  }

  async #write(candidate: Candidate, why: string): Promise<void> {
    // One that a library beside us has moved is explained when our first claim has written that down.
    if (candidate.kind !== "ready" || candidate.beside !== undefined || candidate.fleetJobVersion === null) return;
    const { id } = candidate.entry;
    this.#told.set(id, { why, atMs: this.#scope.queue.clock.monotonicMs() });
    const record = explained(candidate.fleetJob, why);
    if (record.why === candidate.fleetJob.why) return;
    const answer = await this.#scope.queue.committer.submit({
      rank: "claim",
      ops: [
        { op: "check", path: paths.jobStatus(id), version: candidate.statusVersion },
        {
          op: "set",
          path: paths.fleetJob(id),
          data: records.fleetJob.encode(record),
          version: candidate.fleetJobVersion,
        },
      ],
    });
    if (answer.ok) this.#scope.log.info({ job_id: id, why }, "job waits");
  }

  #forgetGone(waiting: readonly WaitingJob[]): void {
    const there = new Set(waiting.map(({ entry }) => entry.id));
    for (const id of this.#told.keys()) if (!there.has(id)) this.#told.delete(id);
  }
}
