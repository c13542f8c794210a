/** Tells our peers which types wait in our shards: at once when something new is due, else now and then, and only news. */
import type { ShardOwner } from "@sluice/job-queue";
import type { ServerFrame } from "../peer/frames.ts";
import type { Clock } from "@sluice/zookeeper";
import type { Later } from "../ports.ts";

export interface PublisherPorts {
  readonly clock: Clock;
  readonly later: Later;
  /** Of the shards that are ours. */
  readonly owners: () => Iterable<readonly [number, ShardOwner]>;
  readonly hasPeers: () => boolean;
  readonly tell: (frame: ServerFrame) => void;
}

const EVERY_MS = 200;
/** Of our time, this part at most goes into looking. */
const SHARE = 10;

export class Publisher {
  readonly #ports: PublisherPorts;
  /** By shard: what was told last. */
  readonly #told = new Map<number, string>();
  #notBefore = -Infinity;
  #stopTimer: (() => void) | null = null;

  constructor(ports: PublisherPorts) {
    this.#ports = ports;
  }

  /** Something may have changed. */
  note(): void {
    if (this.#stopTimer !== null || !this.#ports.hasPeers()) return;
    const ms = Math.max(0, this.#notBefore - this.#ports.clock.monotonicMs());
    this.#stopTimer = this.#ports.later(ms, () => {
      this.#stopTimer = null;
      this.#publish();
    });
  }

  /** To one who has just come: everything. */
  greet(send: (frame: ServerFrame) => void): void {
    for (const [shard, owner] of this.#ports.owners()) send(frameOf(shard, owner));
  }

  stop(): void {
    this.#stopTimer?.();
    this.#stopTimer = null;
  }

  #publish(): void {
    const { clock, owners, tell } = this.#ports;
    const began = clock.monotonicMs();
    const mine = new Map(owners());
    for (const [shard, owner] of mine) {
      const frame = frameOf(shard, owner);
      const text = JSON.stringify(frame);
      if (this.#told.get(shard) === text) continue;
      this.#told.set(shard, text);
      tell(frame);
    }
    for (const shard of [...this.#told.keys()]) if (!mine.has(shard)) this.#told.delete(shard);
    const now = clock.monotonicMs();
    this.#notBefore = now + Math.max(EVERY_MS, (now - began) * SHARE);
  }
}

const frameOf = (shard: number, owner: ShardOwner): ServerFrame => ({
  t: "types",
  shard,
  term: owner.term.term,
  types: owner.waitingTypes,
});
