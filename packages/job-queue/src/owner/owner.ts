/**
 * The owner of a shard. Commands are decided in memory, one after the other, and answered when what they changed is in
 * the tree. A write that is refused, a session that is lost, or another owner ends the term: what is open is answered
 * with null, which means that nobody knows, and whoever wants to go on takes a new term.
 */
import type { Op, Session } from "@sluice/zookeeper";
import { type EndedInTree, TRANSACTION_BYTES_MAX } from "../limits.ts";
import type { TurnsAsked, WaitingType } from "../memory/ready-index.ts";
import type { TenantUsage } from "../memory/usage.ts";
import { paths } from "../paths.ts";
import type { RedoLog } from "../redo.ts";
import type { RunArchive } from "../run-archive.ts";
import type { Command, GetJobs } from "../shard/commands.ts";
import type { Reply } from "../shard/views.ts";
import { reply } from "../shard/views.ts";
import { decide } from "../shard/decide.ts";
import type { Notice } from "../shard/notices.ts";
import { Shard, type ShardLimits } from "../shard/shard.ts";
import { STATUS } from "../shard/statuses.ts";
import { ARCHIVE_LAGS, type ArchiveHooks, EndedRuns } from "./ended-runs.ts";
import { loadShard, type Tree } from "./load.ts";
import { Pipeline, type PipelineHooks, sizeOf } from "./pipeline.ts";
import { leaveTerm, takeTerm, type Term } from "./term.ts";
import { hasJobs, WaitingLine } from "./waiting-line.ts";
import { Writer } from "./writer.ts";

export interface OwnerPorts {
  readonly session: Session;
  /** Who we are, for people. */
  readonly apiId: string;
  /** Wakes us later; returns the way to stop it. */
  readonly later: (ms: number, wake: () => void) => () => void;
  readonly hooks?: PipelineHooks;
  readonly limits?: ShardLimits;
  /** Where what was written is kept once more; without it a lost tree is lost. */
  readonly redo?: RedoLog;
  /** Where runs go when they leave the tree; without it they stay. */
  readonly archive?: RunArchive;
  readonly archiveHooks?: ArchiveHooks;
  readonly endedInTree?: EndedInTree;
  /** A job is due that no waiter took: somebody who serves several types may want it. */
  readonly onDue?: () => void;
  /** Something that nobody asked for was done to jobs, and is written. */
  readonly onNotices?: (notices: readonly Notice[]) => void;
  /** A command could not be decided, or its answer not told: a mistake of ours. The shard lives on, or in a new term. */
  readonly onMistake?: (error: unknown, verb: string) => void;
}

export type Owning =
  | { readonly ok: true; readonly owner: ShardOwner }
  /** `isBroken`: it was ours and could not be loaded, so that trying again at once helps nobody. */
  | { readonly ok: false; readonly why: string; readonly isBroken?: true };

/** What could not be read of a shard. `id`: of a job, which is FAILED; null: of something else. */
export interface Quarantined {
  readonly id: number | null;
  readonly problem: string;
}

/** Takes the shard, from a living owner too, and loads it. `from`: only from this term, or with null from nobody. */
export async function ownShard(shard: number, ports: OwnerPorts, from?: number | null): Promise<Owning> {
  const taken = await takeTerm(ports.session, shard, ports.apiId, from);
  if (!taken.ok) return taken;
  const loading = await loadShard(ports.session, taken.term);
  if (!loading.ok) {
    await leaveTerm(ports.session, taken.term);
    return { ...loading, isBroken: true };
  }
  return { ok: true, owner: new ShardOwner(taken.term, loading.tree, ports) };
}

/** So that a timer never runs over, and a clock that was set is noticed. */
const LONGEST_REST_MS = 60_000;
/** A clock that goes back further was set, and is believed. */
const STEP_BACK_MS = 1_000;
const BROKEN = reply(STATUS.broken);

export class ShardOwner {
  readonly term: Term;
  readonly #ports: OwnerPorts;
  readonly #shard: Shard;
  readonly #writer: Writer;
  readonly #pipeline: Pipeline;
  readonly #ended: EndedRuns;
  readonly #line: WaitingLine;
  readonly #over = new AbortController();
  readonly #problems: readonly string[];
  #stopTimer: (() => void) | null = null;
  #latest = 0;
  #wakeAt = Infinity;

  constructor(term: Term, tree: Tree, ports: OwnerPorts) {
    this.term = term;
    this.#ports = ports;
    this.#shard = new Shard(tree.loaded, this.#now(), ports.limits);
    this.#writer = new Writer(term, tree);
    this.#problems = tree.problems;
    const { hooks: pipelineHooks, redo = null } = ports;
    this.#pipeline = new Pipeline(ports.session, term, (why) => this.#onOver(why), { ...pipelineHooks, redo });
    this.#line = new WaitingLine({
      best: (wanted) => this.#shard.index.best(wanted),
      takeWoken: () => this.#shard.takeWoken(),
      carryOut: (command) => this.#carryOut(command),
      whenWritten: (listener) => this.#pipeline.whenWritten(listener),
      onLeft: () => ports.onDue?.(),
    });
    const { session, later, archive, archiveHooks: hooks, endedInTree: limits } = ports;
    this.#ended = new EndedRuns({
      ...{ session, later, archive, hooks, limits },
      shard: term.shard,
      index: tree.done,
      now: () => this.#now(),
      write: (ops) => this.#pipeline.write(ops),
      written: () => this.#pipeline.written(),
    });
    this.#clearOldCounters(tree);
    for (const unit of this.#shard.takeUnits()) this.#pipeline.write(this.#writer.opsOf(unit));
    this.#shard.takeWoken();
    this.#watchTerm();
    const onLost = (): void => this.#pipeline.end("the session is lost");
    // Not longer than the term: a session may see many, and each holds a whole shard.
    ports.session.lost.addEventListener("abort", onLost, { once: true, signal: this.over });
    if (ports.session.lost.aborted) onLost();
    this.#rest();
  }

  /** Aborts when the term is over; its reason says why. */
  get over(): AbortSignal {
    return this.#over.signal;
  }

  get size(): number {
    return this.#shard.size;
  }

  /** What could not be read, and is as it was. */
  get quarantined(): readonly Quarantined[] {
    const jobs = [...this.#shard.unreadable].map(([id, { problem }]) => ({ id, problem }));
    const entries = this.#ended.unreadable.map((path) => `${path}: the entry of a run that has ended`);
    return [...jobs, ...[...this.#problems, ...entries].map((problem) => ({ id: null, problem }))];
  }

  /** Ended runs that the tree holds, and their bytes. */
  get ended(): { readonly runs: number; readonly bytes: number } {
    return this.#ended.size;
  }

  /** Types that could run now, for the scheduler. */
  get waitingTypes(): ReturnType<Shard["index"]["waitingTypes"]> {
    return this.#shard.index.waitingTypes();
  }

  /** What a tenant's jobs have cost in this term. */
  usageOf(tenant: string): TenantUsage {
    return this.#shard.usage.of(tenant, this.#now());
  }

  /** Runs that are under way, and the worker time that all runs of this term have taken. */
  get usage(): readonly TenantUsage[] {
    return this.#shard.usage.all(this.#now());
  }

  /** Those whose turn it is, of each tenant: what is looked at does not grow with what waits. */
  turns(asked: TurnsAsked): readonly WaitingType[] {
    return this.#shard.index.turns(asked);
  }

  /** Since when the oldest due job of a type is due; null: it has none. */
  oldestDue(tenant: string, name: string): number | null {
    return this.#shard.index.readyOf(tenant, name).oldestDue;
  }

  /** Null: the term ended before the answer was certain. */
  ask(command: Command): Promise<Reply | null> {
    if (this.over.aborted) return Promise.resolve(null);
    if (this.#ended.isHeldBack(command)) return Promise.resolve(ARCHIVE_LAGS);
    return new Promise((resolve) => {
      const answer = this.#carryOut(command);
      // Surely not done, though the term may be over: who does not know would ask again, and end the next term too.
      if (answer === BROKEN) resolve(answer);
      else this.#pipeline.whenWritten((written) => resolve(written ? this.#ended.answer(command, answer) : null));
      this.#line.serve();
      this.#rest();
    });
  }

  /** GetJob with `connection: wait`. Whoever gives up waiting aborts; a job that was on its way then is given back. */
  async wait(command: GetJobs, timeoutMs: number, gone?: AbortSignal): Promise<Reply | null> {
    const first = await this.ask(command);
    if (
      first === null ||
      first === ARCHIVE_LAGS ||
      hasJobs(first) ||
      timeoutMs <= 0 ||
      gone?.aborted === true ||
      this.over.aborted
    )
      return first;
    return new Promise((resolve) => {
      const settled = new AbortController();
      const answer = (reply: Reply | null): void => {
        settled.abort();
        resolve(reply);
      };
      const dismiss = this.#line.add({ command, answer }, this.#now() + timeoutMs);
      // A connection waits again and again, and has one signal.
      if (!settled.signal.aborted) gone?.addEventListener("abort", dismiss, { once: true, signal: settled.signal });
      this.#rest();
    });
  }

  /** Hands runs that ended more than this long ago to who keeps them for good. Answers how many left the tree. */
  emptyArchive(olderThanMs: number): Promise<number> {
    return this.#ended.leave(olderThanMs);
  }

  /** Finishes what is under way and leaves the shard to others. */
  async resign(): Promise<void> {
    await this.#pipeline.written();
    if (this.over.aborted) return;
    this.#pipeline.end("resigned");
    const path = paths.term(this.term.shard, this.term.term);
    await this.#ports.session.multi([{ op: "delete", path, version: 0 }]);
  }

  /** The server's clock is guessed, and a better guess may lie a little earlier: who comes later must not seem to come first. */
  #now(): number {
    const now = this.#ports.session.serverNowMs();
    const isStepBack = now < this.#latest && this.#latest - now < STEP_BACK_MS;
    if (!isStepBack) this.#latest = now;
    return this.#latest;
  }

  /** The memory is changed; the answer counts when everything up to here is written. */
  #carryOut(command: Command): Reply {
    let isChanged = false;
    try {
      const { reply: answer, units, notices } = decide(this.#shard, command, this.#now());
      isChanged = units.length > 0;
      // All before any: half a decision must not be written.
      const all = units.map((unit) => this.#writer.opsOf(unit));
      for (const ops of all) refuseOversized(ops);
      for (const ops of all) this.#pipeline.write(ops);
      this.#ended.poke();
      if (notices.length > 0) this.#tell(notices);
      return answer;
    } catch (error) {
      return this.#onMistake(command, error, isChanged);
    }
  }

  /**
   * A mistake of ours, which a caller has found. What it noted is discarded. If it had changed anything, the memory is no
   * longer what the tree holds: the term ends, and the next one loads the shard anew.
   */
  #onMistake({ verb }: Command, error: unknown, isDecided: boolean): Reply {
    this.#ports.onMistake?.(error, verb);
    const isChanged = this.#shard.discardUnits() || isDecided;
    // A tick that always fails would be tried again at once, without end.
    if (isChanged || verb === "Tick") this.#pipeline.end(`${verb} could not be decided: ${String(error)}`);
    return BROKEN;
  }

  #tell(notices: readonly Notice[]): void {
    this.#pipeline
      .written()
      .then((written) => written && this.#ports.onNotices?.(notices))
      .catch((error: unknown) => this.#ports.onMistake?.(error, "notices"));
  }

  #rest(): void {
    const next = this.#nextMoment();
    // A timer that comes too early finds nothing to do and rests again: cheaper than a new one for each lease that ends.
    if (next >= this.#wakeAt) return;
    this.#stopTimer?.();
    this.#wakeAt = next;
    const ms = Math.min(Math.max(1, next - this.#now()), LONGEST_REST_MS);
    this.#stopTimer = this.#ports.later(ms, () => this.#wake());
  }

  /** When something happens by itself, as far as we know: most commands change nothing about it. */
  #nextMoment(): number {
    if (this.over.aborted) return Infinity;
    if (this.#shard.hasDead) return 0;
    return Math.min(this.#shard.nextEvent() ?? Infinity, this.#line.nextDeadline() ?? Infinity);
  }

  #wake(): void {
    this.#wakeAt = Infinity;
    if (this.over.aborted) return;
    this.#carryOut({ verb: "Tick" });
    this.#line.serve();
    this.#line.expire(this.#now());
    this.#rest();
  }

  #clearOldCounters({ counters }: Tree): void {
    for (const { term, version } of counters)
      this.#pipeline.write([{ op: "delete", path: paths.counter(this.term.shard, term), version }]);
  }

  /** Whoever deposes us deletes our term: better heard than found out. */
  #watchTerm(): void {
    const { session } = this.#ports;
    const path = paths.term(this.term.shard, this.term.term);
    const look = session.exists(path, () => this.over.aborted || this.#watchTerm());
    look
      .then(async (found) => {
        if (found.ok && found.value === null) this.#pipeline.end("deposed");
        // Without an answer there is no watch, and who has nothing to write would never find out.
        if (!found.ok && (await session.untilConnected()) && !this.over.aborted) this.#watchTerm();
      })
      .catch((error: unknown) => this.#pipeline.end(`the term cannot be watched: ${String(error)}`));
  }

  #onOver(why: string): void {
    this.#stopTimer?.();
    this.#ended.stop();
    this.#over.abort(new Error(why));
    this.#line.close();
  }
}

/** What ZooKeeper would not take is not sent: it would be tried again and again, with everybody's writes behind it. */
function refuseOversized(ops: readonly Op[]): void {
  const bytes = sizeOf(ops);
  if (bytes > TRANSACTION_BYTES_MAX) throw new Error(`a transaction of ${bytes} bytes`);
}
