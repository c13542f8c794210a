/** A request, to whoever owns its shard now, and again to the next owner as long as it is surely not done. */
import { type Command, type GetJobs, giveBack, type QueuePort, type Reply, STATUS } from "@sluice/job-queue";
import { askedAgain, mayBeAskedAgain, type Outcome, UNKNOWN } from "./outcome.ts";
import type { RouterPorts } from "./ports.ts";
import type { Seat } from "./seats/seat.ts";
import type { SeenTerm } from "./seats/sight.ts";

/** One try. `not-done`: surely. */
export type Attempt =
  | { readonly kind: "reply"; readonly reply: Reply }
  | { readonly kind: "unknown" }
  | { readonly kind: "not-done"; readonly why: string };

export interface Forwarder {
  ask(shard: number, seen: SeenTerm, command: Command): Promise<Attempt>;
  wait(shard: number, seen: SeenTerm, command: GetJobs, ms: number, gone: AbortSignal): Promise<Attempt>;
}

/** How long a request waits for an owner. */
export const PATIENCE_MS = 5_000;
/** An owner that has not answered by then may still do it; nobody waits for that. */
const ANSWER_MS = 30_000;
/** Between two tries when nothing seems to change. */
const PAUSE_MS = 100;
/** A waiter's time is its owner's to watch; this much later we do not believe in it any more. */
const LATE_MS = 2_000;

const NO_JOB: Reply = { status: STATUS.noJobFound, content: { kind: "none" } };
const NOBODY: Attempt = { kind: "not-done", why: "the shard has no owner" };

export interface RoutingPorts extends Pick<RouterPorts, "clock" | "later" | "hooks"> {
  readonly forwarder: Forwarder;
  /** Where jobs go that came too late for who wanted them. */
  readonly queue: QueuePort;
  /** One of our own shards did something. */
  readonly onServed: () => void;
}

export class Routing {
  readonly #ports: RoutingPorts;
  waiters = 0;
  /** Nobody is asked again. */
  isStopped = false;

  constructor(ports: RoutingPorts) {
    this.#ports = ports;
  }

  async ask(seat: Seat, command: Command, patienceMs: number): Promise<Outcome> {
    const { clock, hooks } = this.#ports;
    const began = clock.monotonicMs();
    const where = seat.serving === null ? "peer" : "here";
    const outcome = await this.#untilDone(seat, command, began + patienceMs);
    hooks?.onRequest?.(where, outcome.kind, (clock.monotonicMs() - began) / 1000);
    return outcome;
  }

  /** A term that ends does not end the waiting: the next owner is told. */
  async wait(seat: Seat, command: GetJobs, timeoutMs: number, gone: AbortSignal): Promise<Outcome> {
    const { clock } = this.#ports;
    const deadline = clock.monotonicMs() + timeoutMs;
    this.waiters += 1;
    try {
      for (;;) {
        const restMs = Math.max(0, deadline - clock.monotonicMs());
        const tried = await this.#inTime(this.#waitOnce(seat, command, restMs, gone), command, restMs + LATE_MS);
        if (tried.kind === "reply") return tried;
        if (gone.aborted) return { kind: "reply", reply: NO_JOB };
        if (this.isStopped || clock.monotonicMs() >= deadline)
          return tried.kind === "unknown" ? UNKNOWN : { kind: "unavailable", why: tried.why };
        await seat.changes.next(PAUSE_MS, gone);
      }
    } finally {
      this.waiters -= 1;
    }
  }

  async #untilDone(seat: Seat, command: Command, deadline: number): Promise<Outcome> {
    const { clock } = this.#ports;
    let asked = command;
    for (;;) {
      const tried = await this.#inTime(this.#askOnce(seat, asked), command, ANSWER_MS);
      if (tried.kind === "reply") return tried;
      if (tried.kind === "unknown") {
        if (!mayBeAskedAgain(command)) return UNKNOWN;
        asked = askedAgain(command);
      }
      const restMs = deadline - clock.monotonicMs();
      if (this.isStopped || restMs <= 0)
        return tried.kind === "unknown" ? UNKNOWN : { kind: "unavailable", why: tried.why };
      await seat.changes.next(Math.min(restMs, PAUSE_MS));
    }
  }

  async #askOnce(seat: Seat, command: Command): Promise<Attempt> {
    const { serving, elsewhere } = seat;
    if (serving !== null) return this.#served(await serving.ask(command));
    return elsewhere === null ? NOBODY : this.#ports.forwarder.ask(seat.shard, elsewhere, command);
  }

  async #waitOnce(seat: Seat, command: GetJobs, ms: number, gone: AbortSignal): Promise<Attempt> {
    const { serving, elsewhere } = seat;
    if (serving !== null) return this.#served(await serving.wait(command, ms, gone));
    return elsewhere === null ? NOBODY : this.#ports.forwarder.wait(seat.shard, elsewhere, command, ms, gone);
  }

  #served(reply: Reply | null): Attempt {
    this.#ports.onServed();
    return attemptOf(reply);
  }

  /** Jobs that come when nobody waits for them any more go back. */
  async #inTime(asked: Promise<Attempt>, command: Command, ms: number): Promise<Attempt> {
    const { later, queue } = this.#ports;
    let stop: () => void = () => undefined;
    const late = new Promise<null>((resolve) => {
      stop = later(ms, () => resolve(null));
    });
    const first = await Promise.race([asked, late]);
    stop();
    if (first !== null) return first;
    if (command.verb === "GetJobs")
      // Jobs that cannot be given back come back when their leases lapse.
      asked
        .then((tried) => (tried.kind === "reply" ? giveBack(queue, command.wanted.tenant, tried.reply) : null))
        .catch(() => undefined);
    return { kind: "unknown" };
  }
}

export const attemptOf = (reply: Reply | null): Attempt =>
  reply === null ? { kind: "unknown" } : { kind: "reply", reply };
