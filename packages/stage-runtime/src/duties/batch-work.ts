/** One batch, from its claim to its settling. */
import {
  type BatchEnding,
  type BatchStore,
  batchRow,
  type Expander,
  givenUpMessage,
  type Guard,
  holdsGuard,
  type LoadedBatch,
  parkReason,
} from "@sluice/queue-core";
import type { BatchContext, BatchStage } from "../duty.ts";
import { logSettledBatch } from "./batch-log.ts";
import { traceJobsMade, tracedBatch, withTraces } from "./batch-trace.ts";
import { retryDelayMs } from "../engine/backoff.ts";
import { letGo } from "../engine/let-go.ts";
import { isLost, type Scope } from "../engine/scope.ts";
import { isPoison } from "../engine/settle.ts";
import type { Log } from "../log.ts";
import { type BatchOutcome, retry, type Retry } from "../outcome.ts";
import type { ItemResult } from "./item-loop.ts";
import { expansionMustWait } from "./waiting-batches.ts";

export interface BatchWorkParts {
  readonly scope: Scope;
  readonly duty: BatchStage;
  readonly store: BatchStore;
  readonly expander: Expander;
}

const GUARD_ROUNDS_MAX = 5;
const ASK_AGAIN_MS = 1_000;
const REFUSED_DELAY_MS = 30_000;

interface Leaving {
  readonly guard: Guard;
  readonly ending: BatchEnding;
}

export class BatchWork {
  readonly #parts: BatchWorkParts;
  readonly #log: Log;
  #loaded: LoadedBatch;

  constructor(parts: BatchWorkParts, loaded: LoadedBatch) {
    this.#parts = parts;
    this.#loaded = loaded;
    const { id, attempt } = loaded.batch;
    this.#log = parts.scope.log.child({ batch_id: id, attempt });
  }

  run(): Promise<ItemResult> {
    return tracedBatch(this.#parts.scope.actor, this.#loaded.batch, () => this.#run());
  }

  async #run(): Promise<ItemResult> {
    const { scope } = this.#parts;
    const startedMs = scope.queue.clock.monotonicMs();
    const { batch, lease } = this.#loaded;
    if (lease.lostWorker === null) this.#log.info({ state: batch.state }, "batch claimed");
    else this.#log.warn({ state: batch.state, lost_worker: lease.lostWorker }, "batch taken over: its worker was lost");
    const outcome = await this.#outcome();
    if (isLost(scope)) return { kind: "later", outcome: "lost", delayMs: 0 };
    const { ending, result } = this.#decide(outcome);
    const settled = await this.#commit(ending, result).catch((error: unknown) => this.#defect(error));
    await scope.failpoint("afterBatchCommit");
    const durationMs = scope.queue.clock.monotonicMs() - startedMs;
    logSettledBatch(this.#log, { said: outcome, ending, result: settled, durationMs });
    return settled;
  }

  async #commit(ending: BatchEnding, result: ItemResult): Promise<ItemResult> {
    await this.#parts.scope.failpoint("beforeBatchCommit");
    return await this.#settle(ending, result);
  }

  /** The engine itself failed: the attempt counts, and the batch does not stay locked. */
  async #defect(error: unknown): Promise<ItemResult> {
    const { scope } = this.#parts;
    scope.metrics.engineErrors.inc({ stage: scope.actor.stage });
    this.#log.error({ err: error }, "the engine could not settle a batch: given back");
    return await this.#release("defect", retryDelayMs(this.#loaded.batch.attempt, scope.random()), true);
  }

  async #outcome(): Promise<BatchOutcome> {
    const { scope, duty } = this.#parts;
    try {
      const poison = this.#poison();
      if (poison !== null) return poison;
      await scope.failpoint("afterBatchClaim");
      const held = await this.#heldBecause();
      if (held !== null) return { kind: "park", why: held };
      return await duty.handle(this.#loaded.batch, this.#context());
    } catch (error) {
      if (!scope.aborting.aborted) this.#log.error({ err: error }, "the handler threw");
      return retry("UNEXPECTED", error instanceof Error ? error.message : String(error));
    }
  }

  #context(): BatchContext {
    const { scope, expander } = this.#parts;
    return {
      signal: scope.aborting,
      clock: scope.queue.clock,
      log: this.#log,
      failpoint: scope.failpoint,
      loaded: this.#loaded,
      addJobs: async (loaded, specs) => {
        const traced = withTraces(loaded.batch, specs);
        const result = await expander.addJobs(loaded, traced);
        if (result.kind === "added") {
          this.#loaded = result.loaded;
          traceJobsMade(loaded.batch, traced);
        }
        return result;
      },
      expansionMustWait: () => expansionMustWait(scope),
    };
  }

  async #heldBecause(): Promise<string | null> {
    const { scope, duty } = this.#parts;
    if (batchRow(duty.takes).park === null) return null;
    const profile = this.#loaded.batch.submission.profile_name;
    const holds = await scope.gate.holds();
    return holds?.collections.has(profile) === true ? parkReason(holds, profile) : null;
  }

  /** The ending to write, and what it means for the directory if the tree takes it. */
  #decide(outcome: BatchOutcome): { ending: BatchEnding; result: ItemResult } {
    const { scope } = this.#parts;
    const release: BatchEnding = { kind: "release" };
    switch (outcome.kind) {
      case "snooze":
        return { ending: release, result: { kind: "later", outcome: "snooze", delayMs: outcome.delayMs } };
      case "retry":
        if (scope.aborting.aborted)
          return { ending: release, result: { kind: "later", outcome: "handback", delayMs: 0 } };
        return this.#tryAgain(outcome);
      case "release":
        return { ending: outcome, result: { kind: "later", outcome: "release", delayMs: 0 } };
      case "start":
      case "park":
      case "fail":
      case "verdict":
        return { ending: outcome, result: { kind: "gone", outcome: outcome.kind } };
    }
  }

  #tryAgain(outcome: Retry): { ending: BatchEnding; result: ItemResult } {
    const { scope } = this.#parts;
    const { attempt } = this.#loaded.batch;
    if (attempt >= scope.settings.attemptsMax && this.#mayFail()) {
      const message = givenUpMessage(outcome.message, attempt);
      return { ending: { kind: "fail", code: outcome.code, message }, result: { kind: "gone", outcome: "fail" } };
    }
    const delayMs = outcome.delayMs ?? retryDelayMs(attempt, scope.random());
    return { ending: { kind: "release", counted: true }, result: { kind: "later", outcome: "retry", delayMs } };
  }

  /** A report cannot be given up, and once a job exists the batch must report on it. */
  #mayFail(): boolean {
    const { state, expansion } = this.#loaded.batch;
    const reports = expansion !== null && expansion.created > 0;
    return batchRow(state).fail !== null && !reports;
  }

  /** Its workers died before they could say anything, as often as attempts are allowed. */
  #poison(): BatchOutcome | null {
    const { scope } = this.#parts;
    const died = this.#loaded.batch.attempt - 1;
    if (!isPoison(died, scope.settings.attemptsMax)) return null;
    const message = `${died} attempts ended without an outcome: its workers died`;
    if (this.#mayFail()) return { kind: "fail", code: "QUARANTINED", message };
    this.#log.error({ died }, "the workers of a batch that cannot be failed keep dying: tried again");
    return null;
  }

  async #settle(ending: BatchEnding, result: ItemResult): Promise<ItemResult> {
    for (let round = 0; round < GUARD_ROUNDS_MAX; round++) {
      const leaving = await this.#underGuard(ending);
      const answer = await this.#parts.store.settle(this.#loaded, leaving.ending, leaving.guard);
      switch (answer.kind) {
        case "applied":
          if (leaving.ending.kind === "release" && ending.kind !== "release")
            return { kind: "later", outcome: "release", delayMs: ASK_AGAIN_MS };
          return leaving.ending === ending ? result : { kind: "gone", outcome: leaving.ending.kind };
        case "guarded":
          this.#parts.scope.gate.holdsChanged();
          continue;
        case "gate-shut":
          this.#log.info("a job of the batch came back or failed meanwhile: looked at again");
          return await this.#release("gate-shut", ASK_AGAIN_MS);
        case "fenced":
        case "lost":
          this.#log.warn({ result: answer.kind }, "the batch is no longer ours: what was done here does not count");
          return { kind: "later", outcome: "lost", delayMs: ASK_AGAIN_MS };
        case "refused":
          this.#log.error({ detail: answer.detail }, "the move of a batch was refused: given back");
          this.#parts.scope.metrics.engineErrors.inc({ stage: this.#parts.scope.actor.stage });
          return await this.#release("refused", REFUSED_DELAY_MS);
      }
    }
    return await this.#release("guarded", ASK_AGAIN_MS);
  }

  /**
   * Starting work proves that no hold came or went meanwhile; a held collection's batch is parked instead, under the same
   * proof: whoever released the hold meanwhile would not find it among the parked.
   */
  async #underGuard(ending: BatchEnding): Promise<Leaving> {
    if (ending.kind !== "start" && ending.kind !== "park") return { ending, guard: [] };
    const holds = await this.#parts.scope.gate.holds();
    const profile = this.#loaded.batch.submission.profile_name;
    if (holds === null) return { ending: { kind: "release" }, guard: [] };
    const guard = holdsGuard(holds);
    if (holds.collections.has(profile)) return { ending: { kind: "park", why: parkReason(holds, profile) }, guard };
    return ending.kind === "park" ? { ending: { kind: "release" }, guard: [] } : { ending, guard };
  }

  async #release(outcome: string, delayMs: number, counted = false): Promise<ItemResult> {
    const { scope, store } = this.#parts;
    const ending: BatchEnding = counted ? { kind: "release", counted } : { kind: "release" };
    await letGo(scope, { batch_id: this.#loaded.batch.id }, () => store.settle(this.#loaded, ending));
    return { kind: "later", outcome, delayMs };
  }
}
