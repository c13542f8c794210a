/**
 * Why a batch with rows left must wait, judged before it is claimed: hundreds may wait for a full queue, and waiting writes
 * nothing and reads no manifest.
 */
import { type BatchId, paths, queueIsFull, records } from "@sluice/queue-core";
import type { BatchStage } from "../duty.ts";
import type { Scope } from "../engine/scope.ts";

/** What holds for all batches is asked once for all of them. */
const BELIEVED_MS = 1_000;
/** Batches whose collection, and whose last reason, are remembered. */
const REMEMBERED_MAX = 10_000;

export class WaitingBatches {
  readonly #scope: Scope;
  readonly #duty: BatchStage;
  readonly #profiles = new Map<BatchId, string>();
  readonly #reasons = new Map<BatchId, string>();
  #common: { readonly atMs: number; readonly why: Promise<string | null> } | null = null;

  constructor(scope: Scope, duty: BatchStage) {
    this.#scope = scope;
    this.#duty = duty;
  }

  /** Null: it may go on. */
  async reason(id: BatchId): Promise<string | null> {
    const { mustWait } = this.#duty;
    if (mustWait === undefined) return null;
    const why = (await this.#commonReason()) ?? (await this.#ownReason(id, mustWait));
    this.#note(id, why);
    return why;
  }

  #commonReason(): Promise<string | null> {
    const nowMs = this.#scope.queue.clock.monotonicMs();
    if (this.#common === null || nowMs - this.#common.atMs >= BELIEVED_MS)
      this.#common = { atMs: nowMs, why: expansionMustWait(this.#scope) };
    return this.#common.why;
  }

  async #ownReason(id: BatchId, mustWait: NonNullable<BatchStage["mustWait"]>): Promise<string | null> {
    const profile = this.#profiles.get(id) ?? (await this.#readProfile(id));
    // What cannot be read now is found out by whoever claims it.
    return profile === null ? null : await mustWait(profile);
  }

  async #readProfile(id: BatchId): Promise<string | null> {
    const node = await this.#scope.queue.session.get(paths.batchSubmission(id));
    const submission = node.ok ? records.submission.decode(node.value.data) : null;
    if (submission?.ok !== true) return null;
    remember(this.#profiles, id, submission.value.profile_name);
    return submission.value.profile_name;
  }

  /** A line when it begins to wait, and when it goes on; not one for every look. */
  #note(id: BatchId, why: string | null): void {
    const isKnown = this.#reasons.has(id);
    if (why === null) {
      this.#reasons.delete(id);
      if (isKnown) this.#scope.log.info({ batch_id: id }, "the batch has waited for long enough: it is expanded");
    } else {
      if (!isKnown) this.#scope.log.info({ batch_id: id, why }, "the batch waits to be expanded");
      remember(this.#reasons, id, why);
    }
  }
}

/** Why no batch may be expanded just now; null when they may. */
export async function expansionMustWait({ gate, queue }: Scope): Promise<string | null> {
  const holds = await gate.holds();
  if (holds === null) return "the holds could not be read";
  return holds.queuePaused ? "the queue is paused" : await queueIsFull(queue);
}

function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
}
