/**
 * Picks only what may go on: all waiting jobs are judged together, by reads, and each admission proves at its commit
 * that nobody else has given room away since (the counter /fleet/space).
 */
import {
  type Guard,
  type JobId,
  type JobState,
  type LoadedJob,
  makeSpaceReader,
  paths,
  peek,
  type QueueEntry,
  type ReadyCandidate,
  sortEntries,
  spaceGuard,
  type SpaceLedger,
  type SpaceReader,
} from "@sluice/queue-core";
import type { Admission, AdmissionCandidate, AdmissionVerdicts } from "../duty.ts";
import { DirectoryList } from "../engine/directory-list.ts";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";
import { Applicants } from "./applicants.ts";
import { OddEntries } from "./odd-entries.ts";
import type { Passage, Permit, Picker } from "./picker.ts";
import { Reasons } from "./reasons.ts";
import { Waits } from "./waits.ts";

const OPEN: Permit = { kind: "go", guard: [] };
const NO_ANSWER: Permit = { kind: "wait", delayMs: 1_000, why: "what is reserved could not be read" };

export class AdmissionPicker implements Picker, Passage {
  readonly #scope: Scope;
  readonly #state: JobState;
  readonly #admission: Admission;
  readonly #space: SpaceReader;
  readonly #list: DirectoryList;
  readonly #applicants: Applicants;
  readonly #reasons: Reasons;
  readonly #odd: OddEntries;
  readonly #waits = new Waits();
  /** Admitted by the last round, and not claimed yet. */
  #approved: ReadyCandidate[] = [];
  /** Admitted and in hand: not in the tree's sum before their commit. */
  readonly #inHand = new Map<JobId, AdmissionCandidate>();
  /** What the last round was based on; our own admissions move it on. */
  #ledger: SpaceLedger | null = null;
  #anyWaiting = false;

  constructor(scope: Scope, state: JobState, admission: Admission, waker: Waker) {
    this.#scope = scope;
    this.#state = state;
    this.#admission = admission;
    this.#space = makeSpaceReader(scope.queue.session);
    this.#list = new DirectoryList(scope, paths.queue(state), waker);
    this.#applicants = new Applicants(scope.queue.session, this.#space);
    this.#reasons = new Reasons(scope);
    this.#odd = new OddEntries(scope, state);
  }

  async pick(free: number): Promise<readonly ReadyCandidate[]> {
    if (this.#approved.length === 0 && this.#list.isDue(true)) await this.#round();
    const picked = this.#approved.splice(0, free);
    for (const { entry } of picked) {
      const applicant = this.#applicants.known(entry);
      if (applicant !== null) this.#inHand.set(entry.id, applicant);
    }
    return picked;
  }

  idleMs(): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    return this.#anyWaiting ? pollMs : idlePollMs;
  }

  before(): Promise<Permit> {
    return Promise.resolve(OPEN);
  }

  async after({ job }: LoadedJob, refused: Guard | null): Promise<Permit> {
    const ledger = this.#ledger;
    if (ledger !== null && (refused === null || !isGuardOf(ledger, refused)))
      return { kind: "go", guard: spaceGuard(ledger) };
    return await this.#judgeAgain(job.id);
  }

  /** Moves that left together share the counter's step: it is taken once. */
  settled(_loaded: LoadedJob, guard: Guard, applied: boolean): void {
    if (!applied) return;
    const ledger = this.#ledger;
    if (ledger === null || !isGuardOf(ledger, guard)) return;
    this.#ledger = { ...ledger, version: ledger.version + 1, counter: ledger.counter + 1 };
  }

  async #round(): Promise<void> {
    this.#dropSettled();
    const names = await this.#list.read();
    if (names === null) return;
    const entries = sortEntries(names);
    this.#anyWaiting = entries.length > 0;
    this.#waits.keepOnly(new Set(entries.map(({ id }) => id)));
    const applicants = await this.#applicants.read(this.#open(entries));
    const verdicts = applicants === null ? null : await this.#judge(applicants);
    if (applicants === null || verdicts === null) return;
    const admitted = applicants.filter(({ id }) => verdicts.get(id)?.admit === true).map(({ id }) => id);
    await this.#approve(entries, new Set(admitted));
    await this.#explain(entries, verdicts);
  }

  #open(entries: readonly QueueEntry[]): readonly QueueEntry[] {
    const nowMs = this.#scope.queue.session.serverNowMs();
    return entries.filter(({ id }) => !this.#inHand.has(id) && !this.#waits.waits(id, nowMs));
  }

  /** What we hold ourselves counts as given away. */
  async #judge(applicants: readonly AdmissionCandidate[]): Promise<AdmissionVerdicts | null> {
    const ledger = await this.#space.read();
    if (ledger === null) return null;
    this.#ledger = ledger;
    const survey = await this.#admission.survey();
    const held = [...this.#inHand.values()].reduce((sum, { spaceNeeded }) => sum + spaceNeeded, 0);
    return this.#admission.decide(applicants, ledger.reservedBytes + held, survey);
  }

  /** Another provisioner was faster: is there still room for this one, beside the others in our hands? */
  async #judgeAgain(id: JobId): Promise<Permit> {
    this.#approved = [];
    this.#list.markOutdated();
    const applicant = this.#inHand.get(id);
    if (applicant === undefined) return NO_ANSWER;
    this.#inHand.delete(id);
    const verdicts = await this.#judge([applicant]);
    const ledger = this.#ledger;
    if (verdicts === null || ledger === null) return NO_ANSWER;
    const verdict = verdicts.get(id);
    if (verdict?.admit !== true) return { kind: "wait", delayMs: 0, why: verdict?.why ?? "no room" };
    this.#inHand.set(id, applicant);
    return { kind: "go", guard: spaceGuard(ledger) };
  }

  async #approve(entries: readonly QueueEntry[], admitted: ReadonlySet<JobId>): Promise<void> {
    const wanted = entries.filter(({ id }) => admitted.has(id));
    const looked = await peek(this.#scope.queue.session, this.#state, wanted);
    if (!looked.ok) return;
    for (const candidate of looked.value) {
      if (candidate.kind === "ready") this.#approved.push(candidate);
      if (candidate.kind === "waiting") this.#waits.note(candidate.entry.id, candidate.readyAtMs, this.#serverNowMs());
      if (candidate.kind === "moved" || candidate.kind === "broken") this.#odd.meet(candidate);
    }
  }

  async #explain(entries: readonly QueueEntry[], verdicts: AdmissionVerdicts): Promise<void> {
    const waiting = entries.flatMap((entry) => {
      const verdict = verdicts.get(entry.id);
      return verdict === undefined || verdict.admit ? [] : [{ entry, why: verdict.why }];
    });
    await this.#reasons.tell(this.#state, waiting);
  }

  #serverNowMs(): number {
    return this.#scope.queue.session.serverNowMs();
  }

  /** Whatever became of them, what is no longer in hand is in the tree's sum or waits again. */
  #dropSettled(): void {
    for (const id of this.#inHand.keys()) if (!this.#scope.inHand.has(id)) this.#inHand.delete(id);
  }
}

function isGuardOf(ledger: SpaceLedger, guard: Guard): boolean {
  const [op] = guard;
  return op?.op === "set" && op.version === ledger.version;
}
