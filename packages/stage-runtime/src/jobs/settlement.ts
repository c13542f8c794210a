/** Carries a verdict out: one fenced commit, decided anew when its guard no longer holds. */
import {
  type CommitResult,
  endsJob,
  type Guard,
  type JobState,
  type JobStore,
  markDueIfLast,
} from "@sluice/queue-core";
import { letGo } from "../engine/let-go.ts";
import { isLost, type Scope } from "../engine/scope.ts";
import type { GiveBack, Leave, Verdict } from "../engine/settle.ts";
import type { Passage } from "./picker.ts";
import type { JobTask } from "./task.ts";

/** What a fenced write carries out. */
type Carried = Exclude<Verdict, Leave>;

/** How a job left our hands; the label of sluice_stage_jobs_total. */
export const SETTLED_AS = ["done", "park", "retry", "snooze", "fail", "quarantine", "handback", "lost"] as const;
export type SettledAs = (typeof SETTLED_AS)[number];

export type Settlement =
  | {
      readonly as: Exclude<SettledAs, "lost">;
      readonly to: JobState | null;
      /** What was carried out in the end: a verdict can turn into a park or a wait on the way. */
      readonly verdict: Verdict;
    }
  | Lost;

/** What its handler said does not count. */
interface Lost {
  readonly as: "lost";
  readonly to: null;
  readonly verdict: Verdict;
  readonly why: string;
}

export const lostWithSession = (verdict: Verdict): Lost => ({
  as: "lost",
  to: null,
  verdict,
  why: "the session was lost",
});

/** Holds and space change rarely: who is refused so often gives the job back. */
const GUARD_ROUNDS_MAX = 5;
const REFUSED_DELAY_MS = 30_000;

export class Settler {
  readonly #scope: Scope;
  readonly #store: JobStore;
  readonly #passage: Passage;

  constructor(scope: Scope, store: JobStore, passage: Passage) {
    this.#scope = scope;
    this.#store = store;
    this.#passage = passage;
  }

  async settle(task: JobTask, verdict: Verdict): Promise<Settlement> {
    const settlement = verdict.kind === "leave" ? await this.#leave(task, verdict) : await this.#settle(task, verdict);
    if (!isLost(this.#scope)) await task.releaseLocks();
    return settlement;
  }

  async #leave(task: JobTask, verdict: Leave): Promise<Settlement> {
    await this.#store.leave(task.loaded.lease);
    return { as: "lost", to: null, verdict, why: verdict.why };
  }

  async #settle(task: JobTask, verdict: Carried): Promise<Settlement> {
    const { verdict: carriedOut, result } = await this.#carryOut(task, verdict);
    return await this.#review(task, carriedOut, result);
  }

  async #carryOut(task: JobTask, verdict: Carried): Promise<{ verdict: Carried; result: CommitResult }> {
    let refused: Guard | null = null;
    for (let round = 0; round < GUARD_ROUNDS_MAX; round++) {
      const { verdict: allowed, guard } = await this.#permitted(task, verdict, refused);
      if (isLost(this.#scope)) return { verdict: allowed, result: { kind: "lost" } };
      const result = await this.#write(task, allowed, guard);
      if (guard.length > 0) this.#passage.settled?.(task.loaded, guard, result.kind === "applied");
      if (result.kind !== "guarded") return { verdict: allowed, result };
      refused = guard;
    }
    const back = waitVerdict(0, "what allows it to go on keeps changing");
    return { verdict: back, result: await this.#write(task, back, []) };
  }

  /** Only success and parking need leave; a failure or a delay is always allowed. */
  async #permitted(
    task: JobTask,
    verdict: Carried,
    refused: Guard | null,
  ): Promise<{ verdict: Carried; guard: Guard }> {
    if (verdict.kind !== "end" || (verdict.ending.kind !== "done" && verdict.ending.kind !== "park"))
      return { verdict, guard: [] };
    const permit = await this.#passage.after(task.loaded, refused);
    switch (permit.kind) {
      case "go":
        // What was to be parked has not been worked: now that its hold is released, it goes back into its queue.
        if (verdict.ending.kind === "park")
          return { verdict: waitVerdict(0, "its collection is no longer held"), guard: [] };
        return { verdict, guard: permit.guard };
      case "park":
        // Proven like a start: whoever released the hold meanwhile would not find this job among the parked.
        return { verdict: { kind: "end", ending: { kind: "park", why: permit.why } }, guard: permit.guard };
      case "wait":
        return { verdict: waitVerdict(permit.delayMs, permit.why), guard: [] };
    }
  }

  #write(task: JobTask, verdict: Carried, guard: Guard): Promise<CommitResult> {
    return verdict.kind === "end"
      ? this.#store.commit(task.loaded, verdict.ending, guard)
      : this.#store.giveBack(task.loaded.lease, verdict.how, verdict.wait);
  }

  async #review(task: JobTask, verdict: Carried, result: CommitResult): Promise<Settlement> {
    switch (result.kind) {
      case "applied":
        if (endsJob(result)) await markDueIfLast(this.#scope.queue, task.loaded.job.batchId);
        return { as: verdict.kind === "end" ? verdict.ending.kind : verdict.how, to: result.to, verdict };
      case "fenced":
        return { as: "lost", to: null, verdict, why: "fenced out: another writer moved the job" };
      case "lost":
        return lostWithSession(verdict);
      case "guarded":
      case "refused":
        return await this.#afterRefusal(task, verdict, result.kind === "refused" ? result.detail : "guarded");
    }
  }

  /** The tree would not take the move, though the job is still ours: nobody but the team can help, so wait for them. */
  async #afterRefusal(task: JobTask, verdict: Carried, detail: string): Promise<Settlement> {
    task.log.error({ detail }, "the move of a job was refused: given back");
    this.#scope.metrics.engineErrors.inc({ stage: this.#scope.actor.stage });
    const wait = { delayMs: REFUSED_DELAY_MS, why: `UNEXPECTED: ${detail}`, countsAttempt: true };
    const back: GiveBack = verdict.kind === "back" ? verdict : { kind: "back", how: "retry", wait };
    const result = await letGo(this.#scope, { job_id: task.loaded.job.id }, () => this.#write(task, back, []));
    return result.kind === "applied" && "to" in result
      ? { as: back.how, to: result.to, verdict: back }
      : { as: "lost", to: null, verdict: back, why: detail };
  }
}

const waitVerdict = (delayMs: number, why: string): GiveBack => ({
  kind: "back",
  how: "snooze",
  wait: { delayMs, why, countsAttempt: false },
});
