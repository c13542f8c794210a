/** Entries that contradict their job: leftovers of a writer without multis, or nodes that cannot be read. */
import { type Candidate, type JobState, paths, unlockedOps } from "@sluice/queue-core";
import type { Scope } from "../engine/scope.ts";

/** Said once more after so many others: better than to remember all that was ever odd. */
const REMEMBERED_MAX = 1_000;

export type Odd = Extract<Candidate, { kind: "moved" | "broken" | "foreign" | "overwritten" }>;

const ODD: ReadonlySet<string> = new Set<Odd["kind"]>(["moved", "broken", "foreign", "overwritten"]);
export const isOdd = (candidate: Candidate): candidate is Odd => ODD.has(candidate.kind);

type Told = Exclude<Odd, { kind: "moved" }>;

const NEVER_IMPORTED = "it was never imported: run `sluice import`";

export class OddEntries {
  readonly #scope: Scope;
  readonly #state: JobState;
  /** What was said once need not be said at every poll. */
  readonly #met = new Set<string>();

  constructor(scope: Scope, state: JobState) {
    this.#scope = scope;
    this.#state = state;
  }

  meet(odd: Odd): void {
    if (odd.kind === "moved") void this.#removeGhost(odd);
    else this.#report(odd);
  }

  #report(odd: Told): void {
    const { entry, kind } = odd;
    const problem = odd.kind === "foreign" ? NEVER_IMPORTED : odd.problem;
    const key = `${entry.id} ${problem}`;
    if (this.#met.has(key)) return;
    if (this.#met.size >= REMEMBERED_MAX) this.#met.clear();
    this.#met.add(key);
    const { metrics, actor, log } = this.#scope;
    metrics.oddEntries.inc({ stage: actor.stage, kind });
    const facts = { job_id: entry.id, problem };
    switch (kind) {
      case "broken":
        log.error(facts, "a job in the queue cannot be read: not claimed");
        return;
      case "foreign":
        log.warn(facts, "a job in the queue is not this fleet's: not claimed");
        return;
      case "overwritten":
        log.error(facts, "a job in the queue was written by one who had lost it: not claimed");
        return;
    }
  }

  /** Between our list and our look it may just have moved on, entry and all: then the delete is refused, rightly. */
  async #removeGhost({ entry, state, statusVersion }: Extract<Odd, { kind: "moved" }>): Promise<void> {
    const path = paths.queueEntry(this.#state, entry.priority, entry.id);
    const still = await this.#scope.queue.session.exists(path);
    if (!still.ok || still.value === null) return;
    const answer = await this.#scope.queue.committer.submit({
      rank: "commit",
      ops: [
        { op: "check", path: paths.jobStatus(entry.id), version: statusVersion },
        // Without a transaction somebody may be on the way from there to here: then the job is locked.
        ...unlockedOps(entry.id),
        { op: "delete", path, version: still.value.version },
      ],
    });
    if (!answer.ok) return;
    this.#scope.metrics.oddEntries.inc({ stage: this.#scope.actor.stage, kind: "ghost" });
    this.#scope.log.warn({ job_id: entry.id, entry: path, state }, "removed a queue entry that its job contradicts");
  }
}
