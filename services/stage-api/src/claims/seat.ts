/**
 * One worker elsewhere, as the handler of its stage: jobs are claimed for it while callers wait in its name, and handed to them. What they
 * say of a claim is what the handler answers.
 */
import type { Job } from "@sluice/queue-core";
import type { HiredGuest, JobContext, JobStage, Outcome, Settled } from "@sluice/stage-runtime";
import type { RemoteStage } from "../stages.ts";
import { HeldClaim, type HeldClaimPorts } from "./held-claim.ts";

export interface SeatPorts extends HeldClaimPorts {
  /** Something of `waiting` or `held` has changed. */
  readonly onChange: () => void;
}

export interface TakeRequest {
  readonly waitMs: number;
  readonly leaseMs: number;
  /** The same for each try of one take; null: the caller has none. */
  readonly key: string | null;
  /** The caller has hung up, or we stop. */
  readonly gone: AbortSignal;
}

interface Waiter {
  readonly request: TakeRequest;
  readonly give: (held: HeldClaim | null) => void;
}

export class Seat {
  readonly stage: RemoteStage;
  readonly worker: string;
  readonly duty: JobStage;
  readonly #ports: SeatPorts;
  readonly #waiters = new Set<Waiter>();
  readonly #claims = new Map<string, HeldClaim>();
  readonly #byKey = new Map<string, HeldClaim>();
  /** Claimed for a caller who hung up meanwhile: the next one has them. */
  readonly #offered: HeldClaim[] = [];
  #onMore: () => void = () => undefined;
  guest: HiredGuest | null = null;

  constructor(stage: RemoteStage, worker: string, ports: SeatPorts) {
    this.stage = stage;
    this.worker = worker;
    this.#ports = ports;
    this.duty = {
      kind: "job-stage",
      takes: stage.takes,
      places: { count: () => this.#waiters.size + this.#claims.size, onMore: (listener) => (this.#onMore = listener) },
      handle: (job, ctx) => this.#handle(job, ctx),
      settled: (_job, how) => this.#settled(how),
    };
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  get held(): number {
    return this.#claims.size;
  }

  /** By the claim's id. */
  find(id: string): HeldClaim | null {
    return this.#claims.get(id) ?? null;
  }

  /** null: no job came in time. */
  async take(request: TakeRequest): Promise<HeldClaim | null> {
    const before = request.key === null ? undefined : this.#byKey.get(request.key);
    const taken = before?.isHeld === true ? before : (this.#nextOffered() ?? (await this.#wait(request)));
    if (taken === null || !this.#keep(taken, request)) return null;
    if (!request.gone.aborted) return taken;
    this.notTold(taken, request);
    return null;
  }

  /** The answer did not get out: a caller with a key asks again, of another nobody ever hears. */
  notTold(held: HeldClaim, { key }: Pick<TakeRequest, "key">): void {
    if (key === null) held.handBack();
  }

  /** Whoever waits goes away without a job. */
  dismiss(): void {
    for (const waiter of [...this.#waiters]) waiter.give(null);
  }

  /** False: it is over already. */
  #keep(held: HeldClaim, { key, leaseMs }: TakeRequest): boolean {
    if (!held.renew(leaseMs)) return false;
    if (key !== null) this.#byKey.set(key, held);
    return true;
  }

  #nextOffered(): HeldClaim | null {
    for (let held = this.#offered.shift(); held !== undefined; held = this.#offered.shift())
      if (held.isHeld) return held;
    return null;
  }

  #wait(request: TakeRequest): Promise<HeldClaim | null> {
    for (const waiter of this.#waiters)
      if (request.key !== null && waiter.request.key === request.key) waiter.give(null);
    return new Promise((resolve) => {
      const leave = (): void => waiter.give(null);
      const waiter: Waiter = {
        request,
        give: (held) => {
          if (!this.#waiters.delete(waiter)) return;
          stop();
          request.gone.removeEventListener("abort", leave);
          this.#ports.onChange();
          resolve(held);
        },
      };
      const stop = this.#ports.later(request.waitMs, leave);
      request.gone.addEventListener("abort", leave);
      this.#waiters.add(waiter);
      this.#ports.onChange();
      if (request.gone.aborted) leave();
      else this.#onMore();
    });
  }

  async #handle(job: Job, ctx: JobContext): Promise<Outcome> {
    const held = new HeldClaim(job, ctx, this.#ports);
    this.#claims.set(ctx.claimId, held);
    const [waiter] = this.#waiters;
    if (waiter === undefined) this.#offered.push(held);
    else waiter.give(held);
    this.#ports.onChange();
    return await held.outcome;
  }

  #settled(how: Settled): void {
    const held = this.#claims.get(how.claimId);
    if (held === undefined) return;
    this.#claims.delete(how.claimId);
    for (const [key, each] of this.#byKey) if (each === held) this.#byKey.delete(key);
    held.settled(how);
    this.#ports.onChange();
  }
}
