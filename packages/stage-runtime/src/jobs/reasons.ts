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
const TOLD_AT_ONCE_MAX = 100;

export class Reasons {
  readonly #scope: Scope;
  #told = new Map<JobId, { readonly why: string; readonly atMs: number }>();

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  async tell(state: JobState, waiting: readonly WaitingJob[]): Promise<void> {
    this.#forgetGone(waiting);
    const news = waiting.filter((job) => this.#isNews(job)).slice(0, TOLD_AT_ONCE_MAX);
    if (news.length === 0) return;
    const looked = await peek(
      this.#scope.queue.session,
      state,
      news.map(({ entry }) => entry),
    );
    if (!looked.ok) return;
    await Promise.all(looked.value.map((candidate, i) => this.#write(candidate, news[i]?.why ?? "")));
  }

  #isNews({ entry, why }: WaitingJob): boolean {
    const told = this.#told.get(entry.id);
    if (told === undefined) return true;
    return told.why !== why && this.#scope.queue.clock.monotonicMs() - told.atMs >= REWRITE_AFTER_MS;
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
