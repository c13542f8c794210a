/**
 * Picks only what may go on: all waiting jobs are judged together, by reads, and each admission proves at its commit
 * that nobody else has given room away since (room.ts).
 */
import {
  type Guard,
  type JobId,
  type JobState,
  type LoadedJob,
  ownerOf,
  paths,
  peek,
  type QueueEntry,
  type ReadyCandidate,
} from "@sluice/queue-core";
import type { Fault } from "@sluice/zookeeper";
import type { Admission, AdmissionCandidate, AdmissionVerdicts } from "../duty.ts";
import { DirectoryList } from "../engine/directory-list.ts";
import { Seldom } from "../engine/seldom.ts";
import type { Scope } from "../engine/scope.ts";
import type { Waker } from "../engine/waker.ts";
import { Applicants } from "./applicants.ts";
import { ListedQueue } from "./listed-queue.ts";
import { KeptRoom } from "./kept-room.ts";
import { isOdd, OddEntries } from "./odd-entries.ts";
import { OverdueScan } from "./overdue.ts";
import type { Passage, Permit, Picker } from "./picker.ts";
import { LOOK_AHEAD, WINDOW_MAX } from "./queue-picker.ts";
import { Reasons } from "./reasons.ts";
import { type Decision, Room } from "./room.ts";
import { LeftToOthers } from "./take-over.ts";
import { Waits } from "./waits.ts";

const OPEN: Permit = { kind: "go", guard: [] };
/** A job that has waited for over a day goes before all others. */
const FIRST_OF_ALL = -1;
/** With thousands waiting a round is work: its share of our time stays below one in so many, unless nothing else is left. */
const ROUND_COST_FACTOR = 5;
const COMPLAIN_EVERY_MS = 60_000;
/** By this name the workers find the one of them that admits. */
const ADMISSION = "admission";

interface Approved {
  readonly entry: QueueEntry;
  readonly applicant: AdmissionCandidate;
  readonly decision: Decision;
}

export class AdmissionPicker implements Picker, Passage {
  readonly #scope: Scope;
  readonly #state: JobState;
  readonly #room: Room;
  readonly #list: DirectoryList;
  readonly #queue = new ListedQueue();
  readonly #applicants: Applicants;
  readonly #reasons: Reasons;
  readonly #odd: OddEntries;
  readonly #overdue: OverdueScan;
  readonly #kept: KeptRoom;
  readonly #waits = new Waits();
  readonly #complaints: Seldom;
  /** Admitted by the last round and not claimed yet, the most urgent first. */
  #approved: Approved[] = [];
  #nextRoundMs = -Infinity;
  #anyWaiting = false;
  /** All judge, one admits: several at once would claim the same jobs, and each admission makes the others decide anew. */
  #isOurs = true;
  readonly #leftToOthers: LeftToOthers;

  constructor(scope: Scope, state: JobState, admission: Admission, waker: Waker) {
    this.#scope = scope;
    this.#state = state;
    this.#room = new Room(scope, admission);
    this.#list = new DirectoryList(scope, paths.queue(state), waker);
    this.#applicants = new Applicants(scope.queue.session, this.#room.space);
    this.#reasons = new Reasons(scope);
    this.#odd = new OddEntries(scope, state);
    this.#overdue = OverdueScan.of(scope, state);
    this.#kept = new KeptRoom(scope);
    this.#leftToOthers = new LeftToOthers(scope.queue.clock, scope.random);
    this.#complaints = new Seldom(scope.queue.clock, COMPLAIN_EVERY_MS);
  }

  /** Admitted jobs are in hand for a moment only: no place more is lent here. */
  async pick(free: number, except?: string): Promise<readonly ReadyCandidate[]> {
    if (except !== undefined) return [];
    if (this.#roundIsDue()) await this.#round();
    const ready: { readonly candidate: ReadyCandidate; readonly approved: Approved }[] = [];
    for (let size = LOOK_AHEAD * free; ready.length < free; size *= LOOK_AHEAD) {
      const window = this.#approved.splice(0, Math.min(WINDOW_MAX, size));
      if (window.length === 0 || !(await this.#look(window, ready))) break;
    }
    this.#approved = [...ready.slice(free).map(({ approved }) => approved), ...this.#approved];
    const picked = ready.slice(0, free);
    for (const { approved } of picked) this.#room.take(approved.applicant, approved.decision);
    return picked.map(({ candidate }) => candidate);
  }

  idleMs(): number {
    const { pollMs, idlePollMs } = this.#scope.settings;
    const leftOverInMs = this.#leftToOthers.nextAtMs - this.#scope.queue.clock.monotonicMs();
    return Math.max(1, Math.min(this.#anyWaiting ? pollMs : idlePollMs, leftOverInMs, this.#list.outdatedForMs()));
  }

  before(): Promise<Permit> {
    return Promise.resolve(OPEN);
  }

  async after({ job }: LoadedJob, refused: Guard | null): Promise<Permit> {
    const permit = await this.#room.permit(job.id, refused);
    // Whoever was faster has taken what the others were promised: they are decided upon anew.
    if (permit.kind === "wait") {
      this.#approved = [];
      this.#list.markOutdated();
    }
    return permit;
  }

  settled({ job }: LoadedJob, guard: Guard, applied: boolean): void {
    if (applied) this.#room.applied(job.id, guard);
  }

  /** Also while some are approved: a more urgent one may have come, and it must not be last. */
  #roundIsDue(): boolean {
    const dry = this.#approved.length === 0;
    if (this.#scope.queue.clock.monotonicMs() >= this.#leftToOthers.nextAtMs) this.#list.markOutdated();
    return this.#list.isDue(dry) && (dry || this.#scope.queue.clock.monotonicMs() >= this.#nextRoundMs);
  }

  async #round(): Promise<void> {
    const startedMs = this.#scope.queue.clock.monotonicMs();
    this.#room.dropSettled();
    const [names, workers] = await Promise.all([this.#list.read(), this.#scope.members.list()]);
    if (names === null) return;
    this.#isOurs = ownerOf(ADMISSION, workers) === this.#scope.actor.worker;
    this.#queue.update(names, startedMs);
    const entries = await this.#inOrder(startedMs);
    this.#anyWaiting = entries.length > 0;
    const isThere = (entry: QueueEntry): boolean => this.#queue.positionOf(entry) !== -1;
    this.#waits.keepOnly(isThere, this.#scope.queue.session.serverNowMs());
    await this.#decide(await this.#real(this.#open(entries)));
    const endedMs = this.#scope.queue.clock.monotonicMs();
    this.#nextRoundMs = endedMs + ROUND_COST_FACTOR * (endedMs - startedMs);
  }

  async #inOrder(nowMs: number): Promise<readonly QueueEntry[]> {
    await this.#overdue.look(this.#queue, nowMs);
    const sorted = Array.from({ length: this.#queue.length }, (_, position) => this.#queue.at(position));
    const isOverdue = ({ id }: QueueEntry): boolean => this.#overdue.has(id);
    return [...sorted.filter(isOverdue), ...sorted.filter((entry) => !isOverdue(entry))];
  }

  #open(entries: readonly QueueEntry[]): readonly QueueEntry[] {
    const nowMs = this.#scope.queue.session.serverNowMs();
    return entries.filter(({ id }) => !this.#room.holds(id) && !this.#waits.waits(id, nowMs));
  }

  /** Room is kept only for what is really there: an entry whose job is elsewhere would keep it for ever. */
  async #real(open: readonly QueueEntry[]): Promise<readonly QueueEntry[]> {
    const overdue = open.filter(({ id }) => this.#overdue.has(id)).slice(0, WINDOW_MAX);
    if (overdue.length === 0) return open;
    const looked = await peek(this.#scope.queue.session, this.#state, overdue);
    if (!looked.ok) return [];
    const odd = looked.value.filter((each) => isOdd(each) || each.kind === "gone");
    for (const each of odd) if (isOdd(each)) this.#odd.meet(each);
    const gone = new Set(odd.map(({ entry }) => entry.id));
    return open.filter(({ id }) => !gone.has(id));
  }

  async #decide(open: readonly QueueEntry[]): Promise<void> {
    const applicants = await this.#readApplicants(open);
    const judged = applicants === null ? null : await this.#room.judge([...applicants.values()]);
    if (applicants === null || judged === null) return;
    const { verdicts, decision } = judged;
    const entries = new Map(open.map((entry) => [entry.id, entry]));
    const admitted = [...applicants.values()].flatMap((applicant) => {
      const entry = entries.get(applicant.id);
      return entry === undefined || verdicts.get(applicant.id)?.admit !== true ? [] : [{ entry, applicant, decision }];
    });
    const taken = this.#leftToOthers.left(
      admitted.map(({ entry }) => entry.id),
      this.#isOurs,
    );
    this.#approved = admitted.filter(({ entry }) => taken.has(entry.id));
    this.#kept.tell(applicants, verdicts);
    if (this.#isOurs) await this.#explain(open, verdicts);
  }

  async #readApplicants(open: readonly QueueEntry[]): Promise<ReadonlyMap<JobId, AdmissionCandidate> | null> {
    const applicants = await this.#applicants.read(open);
    if (applicants === null) return null;
    const ranked = applicants.map((each) => {
      const overdueSinceMs = this.#overdue.since(each.id);
      return overdueSinceMs === undefined ? each : { ...each, priority: FIRST_OF_ALL, overdueSinceMs };
    });
    const inTurns = byTurns(ranked, ({ id }) => this.#applicants.collectionOf(id));
    return new Map(inTurns.map((each) => [each.id, each]));
  }

  /** False when there was no answer: they stay approved. */
  async #look(
    window: readonly Approved[],
    ready: { readonly candidate: ReadyCandidate; readonly approved: Approved }[],
  ): Promise<boolean> {
    const { session } = this.#scope.queue;
    const looked = await peek(
      session,
      this.#state,
      window.map(({ entry }) => entry),
    );
    if (!looked.ok) {
      this.#approved = [...window, ...this.#approved];
      this.#complain(looked);
      return false;
    }
    for (const [i, candidate] of looked.value.entries()) {
      const approved = window[i];
      if (candidate.kind === "ready" && approved !== undefined) ready.push({ candidate, approved });
      if (candidate.kind === "waiting") this.#waits.note(candidate.entry, candidate.readyAtMs, session.serverNowMs());
      if (isOdd(candidate)) this.#odd.meet(candidate);
    }
    return true;
  }

  /** A broken connection is told elsewhere; a look that fails on a good one is ours to tell. */
  #complain({ code, detail }: Fault): void {
    const { metrics, actor, log, queue } = this.#scope;
    if (queue.session.state !== "connected") return;
    metrics.engineErrors.inc({ stage: actor.stage });
    if (this.#complaints.isTime()) log.error({ code, detail }, "admitted jobs could not be looked at: tried again");
  }

  async #explain(entries: readonly QueueEntry[], verdicts: AdmissionVerdicts): Promise<void> {
    const waiting = entries.flatMap((entry) => {
      const verdict = verdicts.get(entry.id);
      return verdict === undefined || verdict.admit ? [] : [{ entry, why: verdict.why }];
    });
    await this.#reasons.tell(this.#state, waiting);
  }
}

/** Within a priority the first of each collection come first, then the second ones. `sorted` is by priority and age. */
function byTurns(
  sorted: readonly AdmissionCandidate[],
  collectionOf: (candidate: AdmissionCandidate) => string,
): readonly AdmissionCandidate[] {
  const counts = new Map<string, number>();
  const counted = sorted.map((each) => {
    const key = `${each.priority} ${collectionOf(each)}`;
    const turn = counts.get(key) ?? 0;
    counts.set(key, turn + 1);
    return { ...each, turn };
  });
  return counted.sort((a, b) => a.priority - b.priority || a.turn - b.turn || (a.id < b.id ? -1 : 1));
}
