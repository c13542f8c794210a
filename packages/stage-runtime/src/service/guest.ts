/**
 * A worker elsewhere, in whose name this process claims. It has a node, a part of the queue, a drain and events of its own, as a
 * process of its stage has; what binds them is the session of this process.
 */
import type { Stage } from "@sluice/queue-core";
import type { JobStage } from "../duty.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { startJobStage } from "../jobs/job-loop.ts";
import { Registration } from "./registration.ts";

export interface Guest {
  readonly stage: Stage;
  readonly worker: string;
  readonly duty: JobStage;
  /** Of jobs in hand, at most. */
  readonly concurrency: number;
  /** For people: where it asks from, and what it says it is. */
  readonly host: string;
  readonly version: string;
}

export interface HiredGuest {
  /** `in`: it is registered, and its jobs are claimed. `name-taken`: another worker of that name lives. `over`: it left, or the session is lost. */
  readonly entered: Promise<"in" | "name-taken" | "over">;
  /** It left, or the session is lost: hire it again for more work. */
  readonly over: AbortSignal;
  /** Takes nothing new, and its node goes at once, so that another process can hire it. Resolves when what it has is settled. */
  leave(): Promise<void>;
}

export interface GuestParts {
  /** With the guest's actor; `stopping` aborts with `leaving`, too. */
  readonly scope: Scope;
  readonly leaving: AbortController;
  readonly over: AbortSignal;
  readonly instance: string;
  /** The worker that this process is. */
  readonly self: string;
}

export class GuestRun implements HiredGuest {
  readonly #guest: Guest;
  readonly #parts: GuestParts;
  readonly #registration: Registration;
  readonly entered: HiredGuest["entered"];
  #duty: RunningDuty | null = null;
  #nameTaken = false;

  constructor(guest: Guest, parts: GuestParts) {
    this.#guest = guest;
    this.#parts = parts;
    const { worker, concurrency, host, version } = guest;
    this.#registration = new Registration({
      scope: parts.scope,
      version,
      instance: parts.instance,
      isDraining: () => false,
      onNameTaken: (problem) => {
        this.#nameTaken = true;
        parts.scope.log.warn({ worker, problem }, "a worker elsewhere cannot be registered");
      },
      over: parts.over,
      remote: { host, concurrency, via: { worker: parts.self } },
    });
    this.entered = this.#enter();
  }

  get over(): AbortSignal {
    return this.#parts.over;
  }

  get inHand(): Scope["inHand"] {
    return this.#parts.scope.inHand;
  }

  async leave(): Promise<void> {
    this.#parts.leaving.abort();
    await this.entered;
    await this.#registration.leave();
    await this.#duty?.ended;
  }

  /** After the first bell, or its leave: when everything in its hand is settled. */
  async drained(): Promise<void> {
    await this.entered;
    await this.#duty?.ended;
  }

  async abandon(): Promise<readonly string[]> {
    return (await this.#duty?.abandon()) ?? [];
  }

  async #enter(): Promise<"in" | "name-taken" | "over"> {
    const { scope, over } = this.#parts;
    const { duty, worker, stage, concurrency } = this.#guest;
    if (!(await this.#registration.enter())) return this.#nameTaken ? "name-taken" : "over";
    if (over.aborted) return "over";
    void this.#registration.keep();
    this.#duty = startJobStage(duty, scope, `jobs ${duty.takes} of ${worker}`);
    scope.metrics.concurrency.inc({ stage }, concurrency);
    over.addEventListener("abort", () => scope.metrics.concurrency.dec({ stage }, concurrency), { once: true });
    scope.log.info("a worker elsewhere is registered");
    return "in";
  }
}
