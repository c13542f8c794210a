/** One claim in the hands of a caller: from the handler's call to what became of it. */
import type { Job } from "@sluice/queue-core";
import { type JobContext, type Outcome, type Settled, snooze, workerDied } from "@sluice/stage-runtime";

/** Wakes us later; returns the way to stop it. */
export type Later = (ms: number, wake: () => void) => () => void;

export interface HeldClaimPorts {
  readonly later: Later;
  readonly monotonicMs: () => number;
  /** Nothing was heard of its caller for so long as its lease. */
  readonly onExpired: () => void;
  /** Its caller was never told of it. */
  readonly onUnclaimed: () => void;
}

export type Ending =
  | { readonly kind: "settled"; readonly how: Settled }
  /** It is being ended in another way, or its lease ran out. */
  | { readonly kind: "too-late"; readonly why: string };

/** How long a job waits for its caller to ask again, who hung up before it was told of the job. */
const OFFERED_MS = 1_000;

export class HeldClaim {
  readonly job: Job;
  readonly ctx: JobContext;
  /** What the handler says, once it is known. */
  readonly outcome: Promise<Outcome>;
  readonly #ports: HeldClaimPorts;
  readonly #settled: Promise<Settled>;
  #say: (outcome: Outcome) => void = () => undefined;
  #tell: (how: Settled) => void = () => undefined;
  #said: Outcome | null = null;
  #stopTimer: () => void;
  #endsAtMs: number;
  #leaseMs = OFFERED_MS;

  constructor(job: Job, ctx: JobContext, ports: HeldClaimPorts) {
    this.job = job;
    this.ctx = ctx;
    this.#ports = ports;
    this.outcome = new Promise((resolve) => (this.#say = resolve));
    this.#settled = new Promise((resolve) => (this.#tell = resolve));
    ctx.signal.addEventListener("abort", () => this.#decide(snooze(0, "its stage-api was stopped")), { once: true });
    this.#endsAtMs = ports.monotonicMs() + OFFERED_MS;
    this.#stopTimer = ports.later(OFFERED_MS, () => this.handBack());
  }

  /** It counts, and nobody has ended it. */
  get isHeld(): boolean {
    return this.#said === null;
  }

  get leftMs(): number {
    return Math.max(0, Math.round(this.#endsAtMs - this.#ports.monotonicMs()));
  }

  /** From now on it lasts so long, or as long as before. False: it is over. */
  renew(leaseMs = this.#leaseMs): boolean {
    if (!this.isHeld) return false;
    this.#stopTimer();
    this.#leaseMs = leaseMs;
    this.#endsAtMs = this.#ports.monotonicMs() + leaseMs;
    this.#stopTimer = this.#ports.later(leaseMs, () => this.#expire(leaseMs));
    return true;
  }

  /** Whoever took it was never told of it. */
  handBack(): void {
    if (this.#decide(snooze(0, "its caller had hung up"))) this.#ports.onUnclaimed();
  }

  /** The first word counts. The same one again waits for the same end. */
  async end(outcome: Outcome): Promise<Ending> {
    if (!this.#decide(outcome) && this.#said?.kind !== outcome.kind)
      return { kind: "too-late", why: whyTooLate(this.#said) };
    return { kind: "settled", how: await this.#settled };
  }

  settled(how: Settled): void {
    this.#decide(snooze(0, how.why));
    this.#tell(how);
  }

  #expire(leaseMs: number): void {
    if (this.#decide(workerDied(`nothing was heard of its worker for ${leaseMs} ms`))) this.#ports.onExpired();
  }

  #decide(outcome: Outcome): boolean {
    if (!this.isHeld) return false;
    this.#said = outcome;
    this.#stopTimer();
    this.#say(outcome);
    return true;
  }
}

function whyTooLate(said: Outcome | null): string {
  if (said?.kind === "worker-died") return "its lease ran out";
  return `it is being ended as ${said?.kind ?? "lost"}`;
}
