/** The workers that this process claims for. Each is registered at one stage-api at a time; the others pass its calls on. */
import { paths, records } from "@sluice/queue-core";
import type { Log, ServiceParts } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import type { StageApiConfig } from "../config.ts";
import type { StageApiMetrics } from "../metrics.ts";
import type { RemoteStage } from "../stages.ts";
import type { ClaimRef } from "./claim-ref.ts";
import type { HeldClaim, Later } from "./held-claim.ts";
import { Seat } from "./seat.ts";

export interface SeatsParts {
  readonly service: Pick<ServiceParts, "actor" | "hire" | "queue">;
  readonly config: Pick<StageApiConfig, "CLAIMS_PER_WORKER" | "WORKERS_MAX" | "WORKER_IDLE_MS">;
  readonly clock: Clock;
  readonly later: Later;
  readonly metrics: Pick<StageApiMetrics, "expired" | "unclaimed">;
  readonly log: Log;
}

export interface Newcomer {
  readonly stage: RemoteStage;
  readonly worker: string;
  readonly host: string;
  readonly version: string;
  readonly waitMs: number;
}

export type Entered =
  | { readonly kind: "seat"; readonly seat: Seat }
  /** Another stage-api has it. */
  | { readonly kind: "elsewhere"; readonly holder: string }
  | { readonly kind: "name-taken"; readonly why: string }
  | { readonly kind: "full" }
  /** Not now: no session, or the node of a process that died still stands. */
  | { readonly kind: "away" };

/** Registering takes a round trip or two, also for whoever does not want to wait for a job. */
const REGISTERING_MS = 5_000;

export class Seats {
  readonly #parts: SeatsParts;
  readonly #seats = new Map<string, Seat>();
  readonly #idle = new Map<Seat, () => void>();
  #onEmpty: () => void = () => undefined;

  constructor(parts: SeatsParts) {
    this.#parts = parts;
  }

  list(): readonly Seat[] {
    return [...this.#seats.values()];
  }

  /** null: this process does not hold it. */
  find({ id, job }: ClaimRef, { stage }: RemoteStage): HeldClaim | null {
    for (const seat of this.#seats.values()) {
      const held = seat.stage.stage === stage ? seat.find(id) : null;
      if (held?.job.id === job) return held;
    }
    return null;
  }

  /** `tried`: stage-apis that do not answer. */
  async enter(newcomer: Newcomer, tried: ReadonlySet<string>): Promise<Entered> {
    const { stage, worker } = newcomer;
    const key = `${stage.stage} ${worker}`;
    const known = this.#seats.get(key);
    if (known !== undefined) return await this.#seated(known, newcomer);
    const place = await this.#lookUp(newcomer, tried);
    if (place !== null) return place;
    // Another call of the same worker may have been faster.
    const seat = this.#seats.get(key) ?? this.#hire(key, newcomer);
    return typeof seat === "string" ? { kind: seat } : await this.#seated(seat, newcomer);
  }

  /** Nobody gets a job any more; resolves when callers have ended what they hold. */
  async drained(): Promise<void> {
    for (const seat of this.#seats.values()) seat.dismiss();
    if (this.#held === 0) return;
    await new Promise<void>((resolve) => (this.#onEmpty = resolve));
  }

  get #held(): number {
    return this.list().reduce((sum, seat) => sum + seat.held, 0);
  }

  async #lookUp({ stage, worker }: Newcomer, tried: ReadonlySet<string>): Promise<Entered | null> {
    const { queue, actor } = this.#parts.service;
    const open = queue();
    if (open === null) return { kind: "away" };
    const node = await open.context.session.get(paths.worker(stage.stage, worker));
    if (!node.ok) return node.code === "NO_NODE" ? null : { kind: "away" };
    const record = records.worker.decode(node.value.data);
    const holder = record.ok ? record.value.via?.worker : undefined;
    if (holder === undefined)
      return { kind: "name-taken", why: `${worker} is a process of the stage itself: take another name` };
    return holder === actor.worker || tried.has(holder) ? null : { kind: "elsewhere", holder };
  }

  #hire(key: string, { stage, worker, host, version }: Newcomer): Seat | "full" | "away" {
    const { service, config, later, clock, metrics, log } = this.#parts;
    if (this.#seats.size >= config.WORKERS_MAX) return "full";
    const seat: Seat = new Seat(stage, worker, {
      later,
      monotonicMs: clock.monotonicMs,
      onExpired: () => {
        metrics.expired.inc({ stage: stage.stage });
        log.warn({ of: worker }, "the lease of a claim ran out: its job is offered again");
      },
      onUnclaimed: () => metrics.unclaimed.inc({ stage: stage.stage }),
      onChange: () => this.#changed(seat),
    });
    const concurrency = config.CLAIMS_PER_WORKER;
    const guest = service.hire({ stage: stage.stage, worker, duty: seat.duty, concurrency, host, version });
    if (guest === null) return "away";
    seat.guest = guest;
    this.#seats.set(key, seat);
    const onOver = (): void => {
      if (this.#seats.get(key) === seat && seat.held === 0) this.#seats.delete(key);
      seat.dismiss();
      this.#changed(seat);
    };
    guest.over.addEventListener("abort", onOver, { once: true });
    this.#changed(seat);
    return seat;
  }

  async #seated(seat: Seat, { waitMs, worker }: Newcomer): Promise<Entered> {
    const { guest } = seat;
    if (guest === null || guest.over.aborted) return { kind: "away" };
    const entered = await this.#inTime(guest.entered, Math.max(waitMs, REGISTERING_MS));
    if (entered === "in") return { kind: "seat", seat };
    if (entered !== "name-taken") return { kind: "away" };
    await guest.leave();
    return { kind: "name-taken", why: `another worker that lives is called ${worker}: take another name` };
  }

  #inTime<T>(work: Promise<T>, ms: number): Promise<T | "late"> {
    return new Promise((resolve, reject) => {
      const stop = this.#parts.later(ms, () => resolve("late"));
      work.then(resolve, reject).finally(stop);
    });
  }

  #changed(seat: Seat): void {
    if (this.#held === 0) this.#onEmpty();
    this.#idle.get(seat)?.();
    this.#idle.delete(seat);
    const { guest } = seat;
    if (guest === null || seat.waiting + seat.held > 0) return;
    if (guest.over.aborted) this.#forget(seat);
    else
      this.#idle.set(
        seat,
        this.#parts.later(this.#parts.config.WORKER_IDLE_MS, () => this.#rest(seat)),
      );
  }

  /** It has not been heard of: its part of the queue is the others'. */
  #rest(seat: Seat): void {
    this.#idle.delete(seat);
    seat.guest?.leave().catch((error: unknown) => this.#parts.log.error({ err: error }, "a worker could not leave"));
  }

  #forget(seat: Seat): void {
    for (const [key, each] of this.#seats) if (each === seat) this.#seats.delete(key);
  }
}
