/** Looks at the next candidates in windows of one round trip; what cannot be claimed costs no write. */
import { type Candidate, type JobId, type JobState, peek, type ReadyCandidate } from "@sluice/queue-core";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";
import { Candidates } from "./candidates.ts";
import { OddEntries } from "./odd-entries.ts";
import type { Picker } from "./picker.ts";
import { isSuspect } from "./suspects.ts";

/** Some of a window are always locked or waiting: look at more than there is room for. */
export const LOOK_AHEAD = 2;
export const WINDOW_MAX = 200;
/** So long what was seen of a job is believed without another look; a claim that believes too much is refused. */
const BELIEVED_MS = 500;

export class QueuePicker implements Picker {
  readonly #scope: Scope;
  readonly #state: JobState;
  readonly #candidates: Candidates;
  readonly #odd: OddEntries;
  #spare: ReadyCandidate[] = [];
  #lookedAtMs = -Infinity;
  /** The last one that was taken. */
  #suspect: JobId | null = null;

  constructor(scope: Scope, state: JobState, waker: Waker) {
    this.#scope = scope;
    this.#state = state;
    this.#candidates = new Candidates(scope, state, waker);
    this.#odd = new OddEntries(scope, state);
  }

  async pick(free: number, except?: string): Promise<readonly ReadyCandidate[]> {
    const ready = except === undefined ? this.#spareOnes() : [];
    const later: ReadyCandidate[] = [];
    // A head full of locked entries must not cost a round trip for each: every further window is larger.
    for (let size = LOOK_AHEAD * free; ready.length < free; size *= LOOK_AHEAD) {
      const window = await this.#candidates.next(Math.min(WINDOW_MAX, size), except);
      if (window.length === 0) break;
      const looked = await peek(this.#scope.queue.session, this.#state, window);
      if (!looked.ok) {
        this.#candidates.putBack(window);
        break;
      }
      if (except === undefined) this.#lookedAtMs = this.#nowMs();
      for (const candidate of looked.value) this.#sort(candidate, ready, later);
    }
    this.#candidates.putBack(later.map(({ entry }) => entry));
    if (except === undefined) this.#spare = ready.slice(free);
    else this.#candidates.putBack(ready.slice(free).map(({ entry }) => entry));
    return ready.slice(0, free);
  }

  /** Ready ones of the last look for which there was no room. */
  #spareOnes(): ReadyCandidate[] {
    const spare = this.#spare;
    this.#spare = [];
    if (this.#nowMs() - this.#lookedAtMs < BELIEVED_MS) return spare;
    this.#candidates.putBack(spare.map(({ entry }) => entry));
    return [];
  }

  #nowMs(): number {
    return this.#scope.queue.clock.monotonicMs();
  }

  idleMs(): number {
    return this.#candidates.idleMs();
  }

  #sort(candidate: Candidate, ready: ReadyCandidate[], later: ReadyCandidate[]): void {
    switch (candidate.kind) {
      case "ready":
        // A new list has the spare ones of the last look once more: claimed twice, one of the two would be refused.
        if (ready.some(({ entry }) => entry.id === candidate.entry.id)) return;
        (this.#mayJoin(candidate, ready) ? ready : later).push(candidate);
        return;
      case "waiting":
        this.#candidates.wait(candidate.entry, candidate.readyAtMs);
        return;
      case "moved":
      case "broken":
      case "foreign":
      case "overwritten":
        this.#odd.meet(candidate);
        return;
      case "locked":
      case "gone":
        return;
    }
  }

  /** A suspect has no other suspect beside it. */
  #mayJoin(candidate: ReadyCandidate, ready: readonly ReadyCandidate[]): boolean {
    if (!isSuspect(candidate)) return true;
    if (ready.some(isSuspect) || (this.#suspect !== null && this.#scope.inHand.has(this.#suspect))) return false;
    this.#suspect = candidate.entry.id;
    this.#scope.log.warn(
      { job_id: candidate.entry.id },
      "the workers of this job died: it is worked without another such",
    );
    return true;
  }
}
