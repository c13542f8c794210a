/** The engine of batches and inboxes: items of a directory, each taken, handled and settled by its duty. */
import { runLoop } from "../engine/loop.ts";
import type { RunningDuty } from "../engine/running-duty.ts";
import type { Scope } from "../engine/scope.ts";
import { Slots } from "../engine/slots.ts";
import { Waker } from "../engine/waker.ts";
import { Collections, LEARNED_AT_ONCE } from "../jobs/collections.ts";
import { LastTurns, Turns } from "../jobs/turns.ts";
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
  readonly #collections: Collections;
  readonly #lastTurns = new LastTurns();

  constructor(duty: ItemDuty, scope: Scope, waker: Waker) {
    this.#duty = duty;
    this.#scope = scope;
    this.#items = new ItemQueue(scope, duty.path, waker);
    this.#slots = new Slots(scope.settings.concurrency, () => waker.wake());
    this.#collections = new Collections(scope.queue.session);
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
    const open = (await this.#items.ready()).filter((name) => !this.#running.has(name));
    if (open.length === 0 || this.#slots.free === 0) return false;
    const chosen = new Set(await this.#duty.choose(open));
    for (const name of open) if (!chosen.has(name)) this.#items.postpone(name, this.#scope.settings.idlePollMs);
    const taken = await this.#inTurns([...chosen], this.#slots.free);
    if (this.#scope.stopping.aborted) return false;
    for (const name of taken) this.#start(name);
    return false; // A place that becomes free, or the watch, wakes the loop.
  }

  /** Collections take turns where there is no room for all: thousands of batches of one do not delay those of others. */
  async #inTurns(names: readonly string[], count: number): Promise<readonly string[]> {
    if (names.length <= count) return names;
    this.#collections.keepOnly(new Set([...names, ...this.#running.keys()]));
    await this.#collections.learn(
      names.filter((name) => this.#collections.of(name) === undefined).slice(0, LEARNED_AT_ONCE),
    );
    const running = [...this.#running.keys()].map((name) => this.#collections.of(name));
    const view = {
      collectionOf: (name: string) => this.#collections.of(name),
      inHand: (collection: string) => running.filter((each) => each === collection).length,
    };
    return new Turns([{ items: names, takesTurns: true }], view, this.#lastTurns).take(count, () => true);
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
    this.#items.postpone(name, result.kind === "later" ? result.delayMs : 0);
    metrics.dutyRuns.inc({ stage: actor.stage, duty, outcome: result.outcome });
    probe({ kind: "item", duty, item: name, outcome: result.outcome });
  }
}
