/** The engine of batches and inboxes: items of a directory, each taken, handled and settled by its duty. */
import { runLoop } from "../engine/loop.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { Slots } from "../engine/slots.ts";
import { Waker } from "../engine/waker.ts";
import { ItemQueue } from "./item-queue.ts";

/** What became of an item: gone from the directory, or to be looked at again after a while. */
export type ItemResult =
  | { readonly kind: "gone"; readonly outcome: string }
  | { readonly kind: "later"; readonly outcome: string; readonly delayMs: number };

export interface ItemDuty {
  readonly name: string;
  readonly path: string;
  /** Leaves out what there is nothing to do for; by reads only. */
  readonly choose: (names: readonly string[]) => Promise<readonly string[]>;
  readonly work: (name: string) => Promise<ItemResult>;
  readonly pausable?: boolean;
}

/** Looked at with one request. */
const WINDOW_MAX = 500;
/** An item that a defect of ours keeps from being settled is not tried again at once. */
const AFTER_DEFECT_MS = 30_000;

export function startItemDuty(duty: ItemDuty, scope: Scope): RunningDuty {
  const waker = new Waker();
  const loop = new ItemLoop(duty, scope, waker);
  const { name, pausable = true } = duty;
  const ended = runLoop({ name, scope, waker, turn: () => loop.turn(), idleMs: () => loop.idleMs(), pausable });
  return { name, ended: ended.then(() => loop.allDone()), abandon: () => Promise.resolve(loop.inHand()) };
}

class ItemLoop {
  readonly #duty: ItemDuty;
  readonly #scope: Scope;
  readonly #items: ItemQueue;
  readonly #slots: Slots;
  readonly #running = new Map<string, Promise<void>>();

  constructor(duty: ItemDuty, scope: Scope, waker: Waker) {
    this.#duty = duty;
    this.#scope = scope;
    this.#items = new ItemQueue(scope, duty.path, waker, this.#running);
    this.#slots = new Slots(
      () => scope.settings.concurrency,
      () => waker.wake(),
    );
  }

  idleMs(): number {
    return this.#items.idleMs();
  }

  /** Their locks are ephemeral and go with the session; there is nothing to write. */
  inHand(): readonly string[] {
    return [...this.#running.keys()];
  }

  async allDone(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  async turn(): Promise<boolean> {
    // Most of what a window holds may have nothing to do: every further window is larger.
    for (let size = this.#slots.free; this.#slots.free > 0; size = Math.min(WINDOW_MAX, 2 * size)) {
      const window = await this.#items.next(Math.max(1, size));
      if (window.length === 0) return false;
      const chosen = new Set(await this.#duty.choose(window));
      if (this.#scope.stopping.aborted) return false;
      for (const name of window) if (!chosen.has(name)) this.#items.postpone(name, this.#scope.settings.idlePollMs);
      const wanted = window.filter((name) => chosen.has(name));
      const { free } = this.#slots;
      this.#items.putBack(wanted.slice(free));
      for (const name of wanted.slice(0, free)) this.#start(name);
      if (!this.#items.hasMore) return false;
    }
    return false; // A place that becomes free, or the watch, wakes the loop.
  }

  #start(name: string): void {
    this.#slots.take(1);
    const work = this.#work(name).finally(() => {
      this.#running.delete(name);
      this.#slots.give();
    });
    this.#running.set(name, work);
  }

  async #work(name: string): Promise<void> {
    const { metrics, actor, log, probe } = this.#scope;
    const duty = this.#duty.name;
    let result: ItemResult;
    try {
      result = await this.#duty.work(name);
    } catch (error) {
      log.error({ err: error, duty, item: name }, "the engine could not settle an item");
      metrics.engineErrors.inc({ stage: actor.stage });
      result = { kind: "later", outcome: "defect", delayMs: AFTER_DEFECT_MS };
    }
    if (result.kind === "later") this.#items.postpone(name, result.delayMs);
    else this.#items.forget(name);
    metrics.dutyRuns.inc({ stage: actor.stage, duty, outcome: result.outcome });
    probe({ kind: "item", duty, item: name, outcome: result.outcome });
  }
}
