/**
 * What was done for one peer, by the numbers of its requests: a request that comes again after a broken connection gets
 * the first answer. Forgotten when the peer has the answer; jobs in an answer that never arrived go back.
 */
import type { Reply } from "@sluice/job-queue";
import type { Attempt } from "../routing.ts";

/** One request: how it is begun, and what becomes of it. */
export interface Remembered {
  readonly n: number;
  readonly start: () => Promise<Attempt>;
  /** Whose jobs an answer may hold; null: it holds none. */
  readonly tenant: string | null;
  /** Of a waiter: tells its owner that nobody waits any more. */
  readonly cancel: (() => void) | null;
}

interface Entry extends Remembered {
  readonly done: Promise<Attempt>;
  isDropped: boolean;
}

/** Jobs that nobody got. */
export type GiveBack = (tenant: string, reply: Reply) => void;

export class Memory {
  readonly #entries = new Map<number, Entry>();
  readonly #giveBack: GiveBack;

  constructor(giveBack: GiveBack) {
    this.#giveBack = giveBack;
  }

  /** The answers to all before this number have arrived, and these. */
  seen(number: number, got: readonly number[] = []): void {
    for (const n of got) this.#entries.delete(n);
    for (const n of this.#entries.keys()) {
      if (n >= number) break;
      this.#entries.delete(n);
    }
  }

  /** How many answers are kept. */
  get size(): number {
    return this.#entries.size;
  }

  once(request: Remembered): Promise<Attempt> {
    const known = this.#entries.get(request.n);
    if (known === undefined) return this.#begin(request);
    if (!known.isDropped) return known.done;
    // Its waiting ended with its connection. Only if that came too late, there is something to deliver.
    return known.done.then((attempt) => {
      if (hasJobs(attempt)) return attempt;
      return this.#entries.get(request.n) === known ? this.#begin(request) : this.once(request);
    });
  }

  cancel(n: number): void {
    this.#entries.get(n)?.cancel?.();
  }

  /** The connection broke: who waited over it does not wait any more, unless it comes back. */
  dropWaiters(): void {
    for (const entry of this.#entries.values()) {
      if (entry.cancel === null) continue;
      entry.isDropped = true;
      entry.cancel();
    }
  }

  /** The peer does not come back. */
  close(): void {
    this.giveJobsBack();
    this.#entries.clear();
  }

  /** Jobs that were not delivered go to others. Should the peer come back and ask again, it gets others too. */
  giveJobsBack(): void {
    this.dropWaiters();
    for (const [n, { done, tenant }] of this.#entries) {
      if (tenant === null) continue;
      this.#entries.delete(n);
      // What failed has nothing to give back.
      done
        .then((attempt) => {
          if (attempt.kind === "reply" && hasJobs(attempt)) this.#giveBack(tenant, attempt.reply);
        })
        .catch(() => undefined);
    }
  }

  #begin(request: Remembered): Promise<Attempt> {
    const done = request.start();
    this.#entries.set(request.n, { ...request, done, isDropped: false });
    return done;
  }
}

const hasJobs = (attempt: Attempt): boolean =>
  attempt.kind === "reply" && attempt.reply.content.kind === "taken" && attempt.reply.content.jobs.length > 0;
