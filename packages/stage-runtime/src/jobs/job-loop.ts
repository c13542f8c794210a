/** The engine of a job stage: candidates → admit? → claim → handle → settle. */
import {
  diedInHand,
  jobRow,
  type JobStore,
  type Lease,
  load,
  type LoadedJob,
  makeJobStore,
  type Parsed,
  type ReadyCandidate,
} from "@sluice/queue-core";
import type { JobStage } from "../duty.ts";
import { letGo } from "../engine/let-go.ts";
import { runLoop } from "../engine/loop.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { handBack } from "../engine/settle.ts";
import { Slots } from "../engine/slots.ts";
import { Waker } from "../engine/waker.ts";
import { AdmissionPicker } from "./admission-picker.ts";
import { HoldPassage } from "./hold-passage.ts";
import { beginCounting } from "./job-observer.ts";
import { openPassage, type Passage, type Picker } from "./picker.ts";
import { QueuePicker } from "./queue-picker.ts";
import { JobWorker } from "./worker.ts";

export function startJobStage(duty: JobStage, scope: Scope, name = `jobs ${duty.takes}`): RunningDuty {
  const waker = new Waker();
  const loop = new JobLoop(duty, scope, waker);
  const ended = runLoop({ name, scope, waker, turn: () => loop.turn(), idleMs: () => loop.idleMs() });
  return { name, ended: ended.then(() => loop.allDone()), abandon: () => loop.abandon() };
}

class JobLoop {
  readonly #scope: Scope;
  readonly #store: JobStore;
  readonly #picker: Picker;
  readonly #worker: JobWorker;
  readonly #slots: Slots;
  readonly #isLending: boolean;

  constructor(duty: JobStage, scope: Scope, waker: Waker) {
    this.#scope = scope;
    this.#store = makeJobStore(scope.queue, scope.actor);
    const { concurrency } = scope.settings;
    this.#isLending = duty.places === undefined && concurrency > 1;
    this.#slots = new Slots(duty.places?.count ?? (() => concurrency), () => waker.wake());
    duty.places?.onMore(() => waker.wake());
    const { picker, passage } = howToPick(duty, scope, waker);
    this.#picker = picker;
    this.#worker = new JobWorker({ scope, duty, store: this.#store, passage });
    if (duty.places === undefined) scope.metrics.concurrency.set({ stage: scope.actor.stage }, concurrency);
    beginCounting(scope);
  }

  idleMs(): number {
    if (this.#slots.free > 0) return this.#picker.idleMs();
    const { pollMs, idlePollMs } = this.#scope.settings;
    return this.#collectionInTheWay() === undefined ? idlePollMs : pollMs;
  }

  allDone(): Promise<void> {
    return this.#worker.allDone();
  }

  abandon(): Promise<readonly string[]> {
    return this.#worker.abandon();
  }

  async turn(): Promise<boolean> {
    const { free } = this.#slots;
    return free > 0 ? await this.#fill(free) : await this.#fullHouse();
  }

  async #fill(free: number, except?: string): Promise<boolean> {
    const ready = await this.#picker.pick(free, except);
    if (ready.length === 0 || this.#scope.stopping.aborted) return false;
    await this.#scope.failpoint("afterPick");
    this.#slots.take(ready.length);
    const started = await this.#takeOn(ready).catch((error: unknown) => {
      this.#slots.give(ready.length);
      throw error;
    });
    this.#slots.give(ready.length - started);
    return true;
  }

  /** Busy is not blind either: long jobs must not make the worker look dead. */
  async #fullHouse(): Promise<boolean> {
    await this.#scope.fleetIdGuard.check();
    this.#scope.pulse.sawQueue();
    const inTheWay = this.#collectionInTheWay();
    return inTheWay !== undefined && (await this.#fill(LENT_PLACES, inTheWay));
  }

  /**
   * One collection's jobs have all places: one place more is lent, to a job of another. Where there is one place only,
   * somebody wants one job at a time.
   */
  #collectionInTheWay(): string | undefined {
    return this.#isLending && this.#slots.free === 0 ? this.#scope.inHand.onlyCollection() : undefined;
  }

  /** All claims of a window leave in one tick, so that the committer can join them. */
  async #takeOn(picked: readonly ReadyCandidate[]): Promise<number> {
    const { claims, queue } = this.#scope;
    const found = claims.pending ? await Promise.all(picked.map((each) => claims.takenBack(queue, each))) : picked;
    const results = await Promise.all(found.map((candidate) => this.#store.claim(candidate)));
    const leases: Lease[] = [];
    for (const [i, result] of results.entries()) {
      this.#scope.metrics.locks.inc({ result: result.kind === "lost" ? "unknown" : result.kind });
      if (result.kind === "acquired") {
        leases.push(result.lease);
        claims.took(result.lease);
        this.#countAbandoned(found[i]);
      }
      if (result.kind === "lost") this.#scope.log.warn({ detail: result.detail }, "a claim came to nothing");
    }
    const loaded = await this.#load(leases);
    for (const each of loaded) this.#worker.start(each, () => this.#slots.give());
    return loaded.length;
  }

  #countAbandoned(candidate: ReadyCandidate | undefined): void {
    const { metrics, actor } = this.#scope;
    if (candidate !== undefined && diedInHand(candidate.fleetJob)) metrics.abandoned.inc({ stage: actor.stage });
  }

  /** What the handlers need, for all of them in one round trip; what cannot be read is given back. */
  async #load(leases: readonly Lease[]): Promise<readonly LoadedJob[]> {
    const answer = await this.#readAll(leases);
    if (answer === null) return [];
    const loaded: LoadedJob[] = [];
    const unread: Promise<unknown>[] = [];
    for (const [i, parsed] of answer.entries()) {
      const lease = leases[i];
      if (parsed.ok) loaded.push(parsed.value);
      else if (lease !== undefined) unread.push(this.#cannotRead(lease, parsed.problem));
    }
    await Promise.all(unread);
    return loaded;
  }

  async #readAll(leases: readonly Lease[]): Promise<readonly Parsed<LoadedJob>[] | null> {
    const { queue, identity } = this.#scope;
    for (let round = 0; round < LOAD_ROUNDS_MAX; round++) {
      const answer = await load(queue.session, leases, identity);
      if (answer.ok) return answer.value;
      if (!(await queue.session.untilConnected())) return null;
    }
    await Promise.all(leases.map((lease) => this.#cannotRead(lease, "no answer")));
    return null;
  }

  /** Not the worker's fault and not a passing one: it waits for people, at the longest delay there is. */
  async #cannotRead(lease: Lease, problem: string): Promise<void> {
    const { log, metrics, actor } = this.#scope;
    metrics.oddEntries.inc({ stage: actor.stage, kind: "broken" });
    log.error({ job_id: lease.id, problem }, "a claimed job cannot be read: given back");
    const { how, wait } = handBack(`UNEXPECTED: ${problem}`);
    const result = await letGo(this.#scope, { job_id: lease.id }, () =>
      this.#store.giveBack(lease, how, { ...wait, delayMs: UNREADABLE_DELAY_MS }),
    );
    if (result.kind !== "lost") this.#scope.claims.ended(lease.id);
  }
}

const UNREADABLE_DELAY_MS = 5 * 60_000;
const LOAD_ROUNDS_MAX = 5;
/** Beyond the concurrency, while one collection holds all of it. */
const LENT_PLACES = 1;

function howToPick(duty: JobStage, scope: Scope, waker: Waker): { picker: Picker; passage: Passage } {
  if (duty.admit !== undefined) {
    const admission = new AdmissionPicker(scope, duty.takes, duty.admit, waker);
    return { picker: admission, passage: admission };
  }
  const passage = jobRow(duty.takes).park === null ? openPassage : new HoldPassage(scope.gate);
  return { picker: new QueuePicker(scope, duty.takes, waker), passage };
}
