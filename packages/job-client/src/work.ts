/** `work(name, handler)`: takes jobs, runs them, says how they ended. */
import { pause } from "@sluice/client";
import type { TakenJob } from "@sluice/wire";
import type { JobClient } from "./client.ts";
import { attemptsIn, endingAfterThrow, type Ending, endingOf, PATIENCE, type Patience } from "./endings.ts";
import { LEASE_MS, type LeaseKeeper, type Lost } from "./lease-keeper.ts";
import { failureText, type Outcome } from "./outcome.ts";

export interface Tools {
  /** Aborts when the job is no longer ours, or when we are stopped and out of patience: whatever is done from then on does not count. */
  readonly signal: AbortSignal;
  /** New data, and how far the work is. */
  readonly update: (data: Readonly<Record<string, unknown>>, step?: string) => Promise<Outcome<object>>;
}

/** Returns nothing, a result, or one of `finish`, `retry` and `fail`; what it throws is tried again later. */
export type Handle = (job: TakenJob & { readonly tenant: string }, tools: Tools) => unknown;

export type WorkEvent =
  | { readonly kind: "started" | "gave-back"; readonly job: TakenJob }
  | { readonly kind: "ended"; readonly job: TakenJob; readonly how: Ending["how"] }
  | { readonly kind: "lost"; readonly job: TakenJob; readonly why: string }
  | { readonly kind: "threw"; readonly job: TakenJob; readonly error: unknown }
  /** Nobody gives us jobs; we go on asking. */
  | { readonly kind: "no-answer"; readonly why: string };

export interface WorkOptions {
  /** Whose jobs; the client's own tenant if not said. */
  readonly tenant?: string;
  /** How many jobs at once; 1 if not said. */
  readonly concurrency?: number;
  /** How long one request waits for a job. */
  readonly pollMs?: number;
  /** How long a job stays ours when nobody hears of us; the queue's own 10 s if not said. */
  readonly leaseMs?: number;
  /** How long `stop` waits for what is under way before it gives it back. */
  readonly graceMs?: number;
  readonly patience?: Partial<Patience>;
  readonly onEvent?: (event: WorkEvent) => void;
}

export interface Working {
  /** How many jobs are under way. */
  readonly busy: number;
  /** Takes no more, finishes what it has, and gives back what is not done in time. */
  stop(): Promise<void>;
}

const POLL_MS = 20_000;
const GRACE_MS = 30_000;
const AWAY_FIRST_MS = 200;
const AWAY_MOST_MS = 5_000;

const LOST_SAYS: Readonly<Record<Lost, string>> = {
  told: "it was given to another",
  silence: "nobody could be reached for too long",
};

export function startWork(
  client: JobClient,
  leases: LeaseKeeper,
  names: readonly string[],
  handle: Handle,
  options: WorkOptions,
): Working {
  return new Worker(client, leases, names, handle, options);
}

class Worker implements Working {
  readonly #client: JobClient;
  readonly #leases: LeaseKeeper;
  readonly #names: readonly string[];
  readonly #handle: Handle;
  readonly #options: WorkOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Map<Promise<void>, AbortController>();
  readonly #looking: Promise<void>;

  constructor(client: JobClient, leases: LeaseKeeper, names: readonly string[], handle: Handle, options: WorkOptions) {
    this.#client = client;
    this.#leases = leases;
    this.#names = names;
    this.#handle = handle;
    this.#options = options;
    this.#looking = this.#look();
  }

  get busy(): number {
    return this.#running.size;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#looking;
    const all = Promise.all(this.#running.keys());
    if (await inTime(all, this.#options.graceMs ?? GRACE_MS)) return;
    for (const run of this.#running.values()) run.abort(new Error("the worker stops"));
    await all;
  }

  async #look(): Promise<void> {
    const { concurrency = 1, pollMs = POLL_MS, leaseMs } = this.#options;
    const stopping = this.#stopping.signal;
    let away = 0;
    while (!stopping.aborted) {
      const free = concurrency - this.busy;
      if (free <= 0) {
        await unlessAborted(Promise.race(this.#running.keys()), stopping);
        continue;
      }
      const got = await this.#client.getJobs({
        name: this.#names.join(","),
        numResults: free,
        waitMs: pollMs,
        signal: stopping,
        ...(leaseMs === undefined ? {} : { leaseMs }),
      });
      if (got.ok) {
        away = 0;
        for (const job of got.value) this.#start(job);
      } else if (!this.#stopping.signal.aborted) {
        this.#tell({ kind: "no-answer", why: failureText(got) });
        await pause(Math.min(AWAY_FIRST_MS * 2 ** away++, AWAY_MOST_MS), stopping);
      }
    }
  }

  #start(job: TakenJob): void {
    const ours = new AbortController();
    const running = this.#run(job, ours).finally(() => this.#running.delete(running));
    this.#running.set(running, ours);
  }

  /** `ours` aborts when it is no longer. */
  async #run(job: TakenJob, ours: AbortController): Promise<void> {
    const { jobID, lease } = job;
    const { tenant } = this.#client;
    const loss: { why: Lost | null } = { why: null };
    const letGo = this.#leases.hold({ tenant, jobID, lease }, this.#options.leaseMs ?? LEASE_MS, (why) => {
      loss.why = why;
      this.#tell({ kind: "lost", job, why: LOST_SAYS[why] });
      ours.abort(new Error("the job is no longer ours"));
    });
    this.#tell({ kind: "started", job });
    const ending = await this.#endingOf(job, ours.signal);
    // Whoever was told that the job is another's has no say. Who merely heard nothing may still be right: the token decides.
    const mute = loss.why === "told" || (loss.why === "silence" && ending === null);
    if (!mute) await this.#say(job, ending, ours.signal);
    letGo();
  }

  /** Null: there was no time to come to an end. */
  async #endingOf(job: TakenJob, signal: AbortSignal): Promise<Ending | null> {
    const { jobID, lease } = job;
    const tools: Tools = {
      signal,
      update: (data, step) => this.#client.update(jobID, { data, lease, ...(step === undefined ? {} : { step }) }),
    };
    try {
      const handled = Promise.resolve(this.#handle({ ...job, tenant: this.#client.tenant }, tools)).then(endingOf);
      // A handler that does not heed the signal must not keep us from stopping.
      return await unlessAborted(handled, signal);
    } catch (error) {
      if (signal.aborted) return null;
      this.#tell({ kind: "threw", job, error });
      const patience = { ...PATIENCE, ...this.#options.patience };
      return endingAfterThrow(job, error, await this.#attempts(job), patience);
    }
  }

  /** If nobody can tell, it is the first: better once more than given up too early. */
  async #attempts({ jobID }: TakenJob): Promise<number> {
    const described = await this.#client.describe(jobID);
    return described.ok ? Math.max(1, attemptsIn(described.value.events)) : 1;
  }

  /** Until it was heard: with its lease an end may be said twice. */
  async #say(job: TakenJob, ending: Ending | null, ours: AbortSignal): Promise<void> {
    for (let tries = 0; ; tries++) {
      const said = await this.#sayOnce(job, ending);
      if (said.ok) {
        this.#tell(ending === null ? { kind: "gave-back", job } : { kind: "ended", job, how: ending.how });
        return;
      }
      if (said.kind === "refused" || ours.aborted) {
        this.#tell({ kind: "lost", job, why: failureText(said) });
        return;
      }
      await pause(Math.min(AWAY_FIRST_MS * 2 ** tries, AWAY_MOST_MS), ours);
    }
  }

  #sayOnce(job: TakenJob, ending: Ending | null): Promise<Outcome<object>> {
    const { jobID, lease } = job;
    // As if it had not been taken: it keeps its place.
    if (ending === null) return this.#client.retry(jobID, { lease, nextRun: job.nextRun, ignoreRepeat: true });
    switch (ending.how) {
      case "finish":
        return this.#client.finish(jobID, { ...ending.with, lease });
      case "retry":
        return this.#client.retry(jobID, { ...ending.with, lease });
      case "fail":
        return this.#client.fail(jobID, { ...ending.with, lease });
    }
  }

  #tell(event: WorkEvent): void {
    this.#options.onEvent?.(event);
  }
}

/** Null when the signal comes first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const end = (): void => resolve(null);
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    // The signal outlives many promises: it must not remember them all.
    promise
      .then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", end))
      .catch(reject);
  });
}

async function inTime(promise: Promise<unknown>, ms: number): Promise<boolean> {
  const done = new AbortController();
  const late = pause(ms, done.signal).then(() => done.signal.aborted);
  // Whoever waits for the promise itself hears of its failure.
  promise.finally(() => done.abort()).catch(() => undefined);
  return late;
}
