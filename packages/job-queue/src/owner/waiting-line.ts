/**
 * Callers that wait for a job, and what they are given. After every change, `serve` must be called: then no due job and no
 * caller who wants it are left beside each other.
 */
import type { Slot, Wanted } from "../memory/ready-index.ts";
import { type Waiter, Waiters } from "../memory/waiters.ts";
import type { GetJobs } from "../shard/commands.ts";
import { STATUS } from "../shard/statuses.ts";
import { type Reply, reply } from "../shard/views.ts";

export interface WaitingCaller {
  readonly command: GetJobs;
  /** Null: nobody knows whether a job was taken for them. */
  readonly answer: (reply: Reply | null) => void;
}

export interface WaitingLinePorts {
  /** The first due job that is wanted; null: there is none. */
  readonly best: (wanted: Wanted) => object | null;
  /** Jobs that became due since, and forgets them. */
  readonly takeWoken: () => readonly Slot[];
  readonly carryOut: (command: GetJobs) => Reply;
  /** Tells the caller when what was decided is written. */
  readonly whenWritten: (listener: (written: boolean) => void) => void;
  /** A job is due that nobody in this line wants. */
  readonly onLeft: () => void;
}

const NO_JOB = reply(STATUS.noJobFound);

export const hasJobs = ({ content }: Reply): boolean => content.kind === "taken" && content.jobs.length > 0;

export class WaitingLine {
  readonly #ports: WaitingLinePorts;
  readonly #waiters = new Waiters<WaitingCaller>();

  constructor(ports: WaitingLinePorts) {
    this.#ports = ports;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Returns the way to give up waiting. */
  add(caller: WaitingCaller, deadline: number): () => void {
    const waiter = this.#waiters.add(caller.command.wanted, deadline, caller);
    // Something may have come since the caller looked, and looking may make other jobs due.
    this.#serveOne(waiter);
    this.serve();
    return () => this.#dismiss(waiter);
  }

  /** One job wakes one caller. */
  serve(): void {
    let isLeft = false;
    for (let woken = this.#ports.takeWoken(); woken.length > 0; woken = this.#ports.takeWoken()) {
      for (const slot of woken) {
        if (!this.#serveUntilTaken(slot)) isLeft = true;
      }
    }
    if (isLeft) this.#ports.onLeft();
  }

  nextDeadline(): number | null {
    return this.#waiters.nextDeadline();
  }

  expire(now: number): void {
    for (const { value } of this.#waiters.expire(now)) value.answer(NO_JOB);
  }

  /** The term is over. */
  close(): void {
    for (const waiter of this.#waiters.all()) {
      this.#waiters.remove(waiter);
      waiter.value.answer(null);
    }
  }

  /**
   * Who is woken for this job takes the best one, which may be another: then this job still waits, and so may somebody who
   * wants it. False: it is left.
   */
  #serveUntilTaken(slot: Slot): boolean {
    while (slot.heap !== null) {
      const waiter = this.#waiters.firstFor(slot);
      if (waiter === null) return false;
      this.#serveOne(waiter);
      // Whoever is still waiting could not be served: a mistake, and not to be repeated without end.
      if (waiter.at >= 0) return false;
    }
    return true;
  }

  #serveOne(waiter: Waiter<WaitingCaller>): void {
    const { command, answer } = waiter.value;
    const { best, carryOut, whenWritten } = this.#ports;
    while (best(waiter.wanted) !== null) {
      const given = carryOut(command);
      // Poison is nobody's: what comes after it may be theirs.
      if (!hasJobs(given) && given.status !== STATUS.broken) continue;
      // The term ended meanwhile, and with it the wait.
      if (waiter.at < 0) return;
      this.#waiters.remove(waiter);
      whenWritten((written) => answer(written ? given : null));
      return;
    }
  }

  #dismiss(waiter: Waiter<WaitingCaller>): void {
    if (waiter.at < 0) return;
    this.#waiters.remove(waiter);
    waiter.value.answer(NO_JOB);
  }
}
