/**
 * Who gets room. Decisions are made one at a time; each is proven at the commits it allows by the counter /fleet/space,
 * and a job in hand goes on only under the latest of them: an older one knew nothing of what others took since.
 */
import {
  type Guard,
  type JobId,
  makeSpaceReader,
  spaceGuard,
  type SpaceLedger,
  type SpaceReader,
} from "@sluice/queue-core";
import type { Admission, AdmissionCandidate, AdmissionVerdicts, Promised, Survey } from "../duty.ts";
import type { Scope } from "../engine/scope.ts";
import type { Permit } from "./picker.ts";

/** What a decision was based on; our own admissions move it on. */
export interface Decision {
  ledger: SpaceLedger;
}

interface Held {
  readonly applicant: AdmissionCandidate;
  decision: Decision;
}

const NO_ANSWER: Permit = { kind: "wait", delayMs: 1_000, why: "the room that is left could not be determined" };

export class Room {
  readonly #scope: Scope;
  readonly #admission: Admission;
  readonly space: SpaceReader;
  /** Admitted and in hand: not in the tree's sum before their commit. */
  readonly #held = new Map<JobId, Held>();
  #latest: Decision | null = null;
  /** One judgement at a time: two at once would each take the other's job for gone. */
  #judging: Promise<unknown> = Promise.resolve();

  constructor(scope: Scope, admission: Admission) {
    this.#scope = scope;
    this.#admission = admission;
    this.space = makeSpaceReader(scope.queue.session);
  }

  holds(id: JobId): boolean {
    return this.#held.has(id);
  }

  take(applicant: AdmissionCandidate, decision: Decision): void {
    this.#held.set(applicant.id, { applicant, decision });
  }

  /** Whatever became of them, what is no longer in hand is in the tree's sum or waits again. */
  dropSettled(): void {
    for (const id of this.#held.keys()) if (!this.#scope.inHand.has(id)) this.#held.delete(id);
  }

  /** Decides about jobs that wait; what we hold ourselves counts as given away. null = no answer. */
  judge(
    applicants: readonly AdmissionCandidate[],
  ): Promise<{ readonly verdicts: AdmissionVerdicts; readonly decision: Decision } | null> {
    return this.#inTurn(async () => {
      const facts = await this.#facts();
      if (facts === null) return null;
      const held = [...this.#held.values()].map(({ applicant }) => applicant);
      const verdicts = this.#admission.decide(applicants, promisedBy(facts.ledger, held), facts.survey);
      return { verdicts, decision: this.#decided(facts.ledger) };
    });
  }

  /** May this job in hand be committed, and under which guard? `refused` is the one that the tree did not take. */
  async permit(id: JobId, refused: Guard | null): Promise<Permit> {
    return this.#underLatest(id, refused) ?? (await this.#inTurn(() => this.#judgeHeld(id, refused)));
  }

  /** From now on the job is in the tree's sum. Moves that left together share the counter's step: it is taken once. */
  applied(id: JobId, guard: Guard): void {
    this.#held.delete(id);
    const latest = this.#latest;
    if (latest === null || !isGuardOf(latest.ledger, guard)) return;
    const { ledger } = latest;
    latest.ledger = { ...ledger, version: ledger.version + 1, counter: ledger.counter + 1 };
  }

  #underLatest(id: JobId, refused: Guard | null): Permit | null {
    const latest = this.#latest;
    if (latest === null || this.#held.get(id)?.decision !== latest) return null;
    if (refused !== null && isGuardOf(latest.ledger, refused)) return null;
    return { kind: "go", guard: spaceGuard(latest.ledger) };
  }

  /** Somebody took room since: is there still enough for all that we hold? */
  async #judgeHeld(id: JobId, refused: Guard | null): Promise<Permit> {
    const meanwhile = this.#underLatest(id, refused);
    if (meanwhile !== null) return meanwhile;
    const facts = await this.#facts();
    if (facts === null || !this.#held.has(id)) return NO_ANSWER;
    const held = [...this.#held.values()];
    const verdicts = this.#admission.decide(
      held.map(({ applicant }) => applicant),
      promisedBy(facts.ledger, []),
      facts.survey,
    );
    const decision = this.#decided(facts.ledger);
    for (const each of held) if (verdicts.get(each.applicant.id)?.admit === true) each.decision = decision;
    const verdict = verdicts.get(id);
    if (verdict?.admit === true) return { kind: "go", guard: spaceGuard(decision.ledger) };
    this.#held.delete(id);
    return { kind: "wait", delayMs: 0, why: verdict?.why ?? "no room" };
  }

  #decided(ledger: SpaceLedger): Decision {
    this.#latest = { ledger };
    return this.#latest;
  }

  async #facts(): Promise<{ readonly ledger: SpaceLedger; readonly survey: Survey } | null> {
    const ledger = await this.space.read();
    if (ledger === null) return null;
    try {
      return { ledger, survey: await this.#admission.survey() };
    } catch (error) {
      this.#scope.metrics.engineErrors.inc({ stage: this.#scope.actor.stage });
      this.#scope.log.error({ err: error }, "the working volume could not be surveyed: nothing is admitted for now");
      return null;
    }
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#judging.then(work);
    this.#judging = mine.catch(() => undefined);
    return mine;
  }
}

/** `held`: admitted, and not in the tree's sum yet. */
const promisedBy = (ledger: SpaceLedger, held: readonly AdmissionCandidate[]): Promised => ({
  bytes: held.reduce((sum, { spaceNeeded }) => sum + spaceNeeded, ledger.reservedBytes),
  failedBytes: ledger.failedBytes,
  unknownJobs: ledger.unknownJobs + held.filter(({ spaceNeeded }) => spaceNeeded === 0).length,
});

function isGuardOf(ledger: SpaceLedger, guard: Guard): boolean {
  const [op] = guard;
  return op?.op === "set" && op.version === ledger.version;
}
