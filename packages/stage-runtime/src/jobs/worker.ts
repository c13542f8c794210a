/** From the claim of one job to its settling. */
import type { JobStore, LoadedJob } from "@sluice/queue-core";
import type { JobStage } from "../duty.ts";
import { letGo } from "../engine/let-go.ts";
import { isLost, type Scope } from "../engine/scope.ts";
import { handBack, isPoison, poisonVerdict, type Verdict, verdictOn } from "../engine/settle.ts";
import { type Outcome, retry } from "../outcome.ts";
import { observeSettled, observeTaken, reasonOf } from "./job-observer.ts";
import type { Passage } from "./picker.ts";
import { lostWithSession, Settler } from "./settlement.ts";
import { JobTask } from "./task.ts";
import { tracedAttempt } from "./trace.ts";

export interface JobWorkerParts {
  readonly scope: Scope;
  readonly duty: JobStage;
  readonly store: JobStore;
  readonly passage: Passage;
}

export class JobWorker {
  readonly #parts: JobWorkerParts;
  readonly #settler: Settler;
  readonly #running = new Map<JobTask, Promise<void>>();

  constructor(parts: JobWorkerParts) {
    this.#parts = parts;
    this.#settler = new Settler(parts.scope, parts.store, parts.passage);
  }

  /** Works the job to its end; never rejects. */
  start(loaded: LoadedJob, onFree: () => void): void {
    const { scope, store } = this.#parts;
    void tracedAttempt(scope.actor, loaded, (span) => this.#take(new JobTask(scope, store, loaded, span), onFree));
  }

  #take(task: JobTask, onFree: () => void): Promise<void> {
    observeTaken(this.#parts.scope, task);
    const work = this.#work(task)
      .catch((error: unknown) => this.#defect(task, error))
      .finally(() => {
        this.#running.delete(task);
        onFree();
      });
    this.#running.set(task, work);
    return work;
  }

  async allDone(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** The last step of a shutdown: what still runs is given back, uncounted, and its handler is no longer listened to. */
  async abandon(): Promise<readonly string[]> {
    const tasks = [...this.#running.keys()].filter((task) => task.beginSettling());
    await Promise.all(tasks.map((task) => this.#conclude(task, handBack("its worker was stopped"))));
    return tasks.map((task) => task.loaded.job.id);
  }

  async #work(task: JobTask): Promise<void> {
    const { scope } = this.#parts;
    const verdict = await this.#verdict(task);
    if (!task.beginSettling()) return;
    await task.quiet();
    await scope.failpoint("beforeCommit");
    await this.#conclude(task, verdict);
    await scope.failpoint("afterCommit");
  }

  async #conclude(task: JobTask, verdict: Verdict): Promise<void> {
    const { scope } = this.#parts;
    const settlement = isLost(scope) ? lostWithSession(verdict) : await this.#settler.settle(task, verdict);
    task.concluded = true;
    if (!isLost(scope)) scope.claims.ended(task.loaded.job.id);
    observeSettled(scope, task, settlement);
    const why = settlement.as === "lost" ? settlement.why : reasonOf(settlement.verdict);
    const { job, lease } = task.loaded;
    this.#parts.duty.settled?.(job, { claimId: lease.claim, as: settlement.as, to: settlement.to, why });
  }

  async #verdict(task: JobTask): Promise<Verdict> {
    const { scope, passage } = this.#parts;
    const { job } = task.loaded;
    if (isPoison(job.attempt - 1, scope.settings.attemptsMax)) return poisonVerdict(job.attempt - 1);
    const outcome = await this.#before(task, passage);
    if ("ending" in outcome || outcome.kind === "back" || outcome.kind === "leave") return outcome;
    if (scope.aborting.aborted && outcome.kind !== "done") return handBack("its worker was stopped");
    return this.#verdictOn(task, outcome);
  }

  #verdictOn(task: JobTask, outcome: Outcome): Verdict {
    const { random, settings } = this.#parts.scope;
    const { attempt, state } = task.loaded.job;
    return verdictOn(outcome, { state, attempt, attemptsMax: settings.attemptsMax, chance: random() });
  }

  async #before(task: JobTask, passage: Passage): Promise<Outcome | Verdict> {
    try {
      await this.#parts.scope.failpoint("afterClaim");
      const permit = await passage.before(task.loaded);
      if (permit.kind === "park") return { kind: "end", ending: { kind: "park", why: permit.why } };
      if (permit.kind === "wait") return { kind: "snooze", delayMs: permit.delayMs, why: permit.why };
      // Who begins now would never hear the bell that has rung.
      if (this.#parts.scope.aborting.aborted) return handBack("its worker was stopped");
      return await this.#handle(task);
    } catch (error) {
      return this.#thrown(task, error);
    }
  }

  async #handle(task: JobTask): Promise<Outcome> {
    const { scope, duty } = this.#parts;
    await scope.failpoint("beforeEffect");
    const outcome = await duty.handle(task.loaded.job, task.context());
    await scope.failpoint("afterEffect");
    return outcome;
  }

  /** A throw is a bug in the stage, not an answer; while we stop, it is how a handler obeys its signal. */
  #thrown(task: JobTask, error: unknown): Outcome {
    const { scope } = this.#parts;
    if (!scope.aborting.aborted) task.log.error({ err: error }, "the handler threw");
    return retry("UNEXPECTED", messageOf(error));
  }

  /** Between the verdict and its commit the engine itself failed: the attempt counts, and nothing stays locked. */
  async #defect(task: JobTask, error: unknown): Promise<void> {
    const { scope } = this.#parts;
    scope.metrics.engineErrors.inc({ stage: scope.actor.stage });
    task.log.error({ err: error }, "the engine could not settle a job");
    const isOpen = (): boolean => !task.concluded;
    if (!isOpen()) return;
    const verdict = this.#verdictOn(task, retry("UNEXPECTED", messageOf(error)));
    const result = await letGo(scope, { job_id: task.loaded.job.id }, async () => {
      await this.#conclude(task, verdict);
      return { kind: "concluded" };
    });
    if (result.kind === "lost" && isOpen()) await this.#conclude(task, verdict);
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
