/** A queue without a tree, with a clock that is set by hand. The decisions are the real ones. */
import { type Command, decide, parseTime, type Reply, Shard } from "@sluice/job-queue";
import type { Answer, GetJobs, Later, QueuePort } from "../../src/queue-port.ts";

interface Timer {
  readonly at: number;
  readonly wake: () => void;
}

interface Waiter {
  readonly command: GetJobs;
  readonly answer: (reply: Answer) => void;
}

export class MemoryQueue implements QueuePort {
  now: number;
  /** Everything that was asked, by tenant. */
  readonly asked: (readonly [string, Command])[] = [];
  /** While it is set, nothing is answered. */
  silence: Promise<void> | null = null;
  /** The owner is gone: nobody knows. */
  isAway = false;
  readonly #shard: Shard;
  readonly #timers = new Set<Timer>();
  readonly #waiters = new Set<Waiter>();

  constructor(start = "2026-11-16 13:00:00") {
    this.now = parseTime(start)!;
    const readable = { brokenGuests: new Set<string>(), unreadable: new Map() };
    const jobs = { jobs: new Map(), blocks: [], marks: new Set<string>(), ended: [] };
    const empty = { ...jobs, ...readable, guests: new Map(), crashed: {} };
    this.#shard = new Shard({ shard: 0, term: 1, ids: { next: 0, term: 1 }, ...empty }, this.now);
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  async ask(tenant: string, command: Command): Promise<Answer> {
    this.asked.push([tenant, command]);
    if (this.silence !== null) await this.silence;
    if (this.isAway) return null;
    const reply = this.#decide(command);
    this.#serve();
    return reply;
  }

  async wait(tenant: string, command: GetJobs, timeoutMs: number, gone: AbortSignal): Promise<Answer> {
    const first = await this.ask(tenant, command);
    if (first?.status.code !== 404) return first;
    return new Promise((resolve) => {
      const waiter: Waiter = {
        command,
        answer: (reply) => {
          this.#waiters.delete(waiter);
          resolve(reply);
        },
      };
      this.#waiters.add(waiter);
      gone.addEventListener("abort", () => waiter.answer(first), { once: true });
      if (gone.aborted) waiter.answer(first);
      this.later(timeoutMs, () => waiter.answer(first));
    });
  }

  readonly later: Later = (ms, wake) => {
    const timer = { at: this.now + ms, wake };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  /** Time goes by, and everything that was to happen meanwhile happens. */
  async pass(ms: number): Promise<void> {
    // What was just asked gets as far as it can by itself.
    await new Promise(setImmediate);
    const end = this.now + ms;
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.at - b.at).find(({ at }) => at <= end);
      this.now = next?.at ?? end;
      this.#decide({ verb: "Tick" });
      this.#serve();
      if (next === undefined) return;
      this.#timers.delete(next);
      next.wake();
      await new Promise(setImmediate);
    }
  }

  #decide(command: Command): Reply {
    return decide(this.#shard, command, this.now).reply;
  }

  #serve(): void {
    for (const waiter of this.#waiters) {
      const reply = this.#decide(waiter.command);
      if (reply.status.code === 200) waiter.answer(reply);
    }
  }
}
