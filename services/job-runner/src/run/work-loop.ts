/** Takes jobs while there is room, runs them by their handlers, keeps their leases, gives back what it cannot end. */
import { failureText, LEASE_MS, LeaseKeeper, type Lost } from "@sluice/job-client";
import type { Log } from "@sluice/stage-runtime";
import type { Handler } from "@sluice/wire";
import type { RetryRules } from "../decide/next-step.ts";
import { batchesOf, cut } from "./batches.ts";
import { Hand } from "./hand.ts";
import { Handlers } from "./handlers.ts";
import type { JobQueue } from "./queue.ts";
import { settle, type SettlePorts } from "./settle.ts";
import { type Batch, type Ended, isOver, type JobInHand, type Runner, type RunPorts } from "./types.ts";

export interface LoopPorts {
  readonly queue: JobQueue;
  readonly runnerOf: (lang: string) => Runner;
  /** The fleet's own: what is in it needs no handler. */
  readonly builtIn: (job: JobInHand) => ((signal: AbortSignal) => Promise<Ended>) | null;
  readonly concurrency: number;
  readonly retry: RetryRules;
  readonly log: Log;
  readonly nowMs: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onHand: (hand: Pick<Hand, "ids" | "size">) => void;
  readonly onSettled: SettlePorts["onSettled"];
}

const WAIT_MS = 20_000;
const AGAIN_MS = 1_000;
const RENEW_MS = 3_000;
const LET_GO = "jobs let go: they are no longer ours";
const LOST: Readonly<Record<Lost, string>> = {
  told: "its lease is lost",
  silence: "no job-api could be reached for as long as its lease lasts",
};
/** Jobs that are run by no handler of a tenant but by a kind of ours. */
export const CONTAINER_TYPE = "container";

export class WorkLoop {
  readonly #ports: LoopPorts;
  readonly #hand: Hand;
  readonly #handlers: Handlers;
  readonly #stopping = new AbortController();
  readonly #leases: LeaseKeeper;
  readonly #runs = new Set<Promise<void>>();
  #taking: Promise<void> | null = null;
  #mayTake = false;
  #resume: (() => void) | null = null;

  constructor(ports: LoopPorts) {
    this.#ports = ports;
    this.#hand = new Hand(() => ports.onHand(this.#hand));
    this.#handlers = new Handlers(ports.queue, ports.nowMs);
    this.#leases = new LeaseKeeper((leases) => ports.queue.renew(leases), RENEW_MS);
  }

  start(): void {
    this.#taking = this.#takeOn();
  }

  /** Only whoever stands in the registry takes jobs. */
  allow(mayTake: boolean): void {
    this.#mayTake = mayTake;
    if (mayTake) this.#resume?.();
  }

  /** We were declared dead, or cannot know: nothing in hand is ours. */
  dropAll(why: string): void {
    const ids = this.#hand.jobs.map(({ id }) => id);
    if (ids.length > 0) this.#ports.log.warn({ jobs: ids, why }, LET_GO);
    this.#hand.drop(ids, why);
  }

  /** Takes no more; resolves when what is in hand has ended. */
  async drain(): Promise<void> {
    this.#stopping.abort();
    this.#resume?.();
    await this.#taking;
    while (this.#runs.size > 0) await Promise.all(this.#runs);
    this.#leases.stop();
  }

  async #takeOn(): Promise<void> {
    const { queue, concurrency, log, pause } = this.#ports;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      if (!this.#mayTake) {
        await new Promise<void>((resolve) => (this.#resume = resolve));
        continue;
      }
      const room = concurrency - this.#hand.size;
      if (room <= 0) {
        await this.#hand.freed();
        continue;
      }
      const taken = await queue.take(room, WAIT_MS, signal);
      if (Array.isArray(taken)) this.#begin(taken as readonly JobInHand[]);
      else if (!isOver(signal) && "kind" in taken) {
        log.warn({ why: failureText(taken) }, "no jobs could be taken");
        await pause(AGAIN_MS, signal);
      }
    }
  }

  #begin(jobs: readonly JobInHand[]): void {
    for (const job of jobs) {
      this.#hand.add(job, this.#hold(job));
      this.#ports.log.info({ tenant: job.tenant, type: job.type, job: job.id }, "job entering");
    }
    for (const batch of batchesOf(jobs)) this.#follow(this.#runBatch(batch), batch);
  }

  /** Until it is let go of. Whoever reaches nobody for as long as a lease lasts must stop: another one may be given the job. */
  #hold({ tenant, id, lease }: JobInHand): () => void {
    return this.#leases.hold({ tenant, jobID: id, lease }, LEASE_MS, (why) => {
      this.#ports.log.warn({ tenant, jobs: [id], why: LOST[why] }, LET_GO);
      this.#hand.drop([id], LOST[why]);
    });
  }

  /** Whatever goes wrong in our own code costs the batch its run, never the runner. */
  #follow(run: Promise<void>, { jobs }: Batch): void {
    const followed = run
      .catch((error: unknown) => this.#ports.log.error({ err: error, jobs: jobs.map(({ id }) => id) }, "a run broke"))
      .finally(() => {
        for (const job of jobs) this.#hand.remove(job);
        this.#runs.delete(followed);
      });
    this.#runs.add(followed);
  }

  async #runBatch(batch: Batch): Promise<void> {
    const [first] = batch.jobs;
    const isBuiltIn = first !== undefined && this.#ports.builtIn(first) !== null;
    if (isBuiltIn) {
      await Promise.all(batch.jobs.map((job) => this.#runBuiltIn(job)));
      return;
    }
    const found = await this.#handlers.of(batch.tenant, batch.type);
    const handler = found.kind === "found" ? found.handler : ownHandler(batch);
    if (handler === null) {
      // Missing, or just not to be had: in either case another time.
      const why = found.kind === "found" ? "" : found.why;
      for (const job of batch.jobs) await this.#settle(job, { exit: 503, result: `no handler: ${why}` }, null);
      return;
    }
    const runner = this.#ports.runnerOf(handler.lang);
    const parts = cut(batch, Math.max(1, handler.batch ?? runner.batch));
    await Promise.all(parts.map((part) => runner.run(part, handler, this.#runPorts(handler))));
  }

  async #runBuiltIn(job: JobInHand): Promise<void> {
    const signal = this.#hand.signalOf(job);
    this.#started(job);
    const ended = await this.#ports.builtIn(job)?.(signal);
    // What the fleet has promised is tried for as long as it takes: a deposit for next year is old before its first try.
    const rules = { ...this.#ports.retry, maxAgeMs: Number.MAX_SAFE_INTEGER };
    if (ended !== undefined && !signal.aborted) await this.#settle(job, ended, null, rules);
  }

  #runPorts(handler: Handler): RunPorts {
    return {
      signalOf: (job) => this.#hand.signalOf(job),
      started: (job) => this.#started(job),
      settle: (job, ended) => this.#settle(job, ended, handler),
      step: async (job, step, data = job.data) => {
        const shown = await this.#ports.queue.step(job, step, data);
        if (shown === "lost") this.#hand.drop([job.id], "its lease is lost");
      },
    };
  }

  #started(job: JobInHand): void {
    this.#ports.log.info({ tenant: job.tenant, type: job.type, job: job.id }, "job running");
  }

  async #settle(
    job: JobInHand,
    ended: Ended,
    handler: Handler | null,
    rules: RetryRules = rulesOf(handler, this.#ports.retry),
  ): Promise<void> {
    const { queue, nowMs, log, onSettled } = this.#ports;
    if (this.#hand.signalOf(job).aborted) return;
    const { onFinish } = handler ?? {};
    await settle(job, onFinish === undefined ? ended : { ...ended, onFinish }, rules, { queue, nowMs, log, onSettled });
    this.#hand.remove(job);
  }
}

function rulesOf(handler: Handler | null, rules: RetryRules): RetryRules {
  const own = handler?.retry;
  return {
    maxAgeMs: own?.maxAgeMs ?? rules.maxAgeMs,
    maxAttempts: own?.maxAttempts ?? rules.maxAttempts,
    delayMs: own?.delayMs ?? rules.delayMs,
  };
}

/** Container jobs bring all that is needed in their data. */
function ownHandler({ tenant, type }: Batch): Handler | null {
  if (type !== CONTAINER_TYPE) return null;
  return { id: "container", tenant, type, version: 1, created: "", by: "", lang: "container", body: "{}" };
}
