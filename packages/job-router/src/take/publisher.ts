/** Tells our peers which types wait in our shards: at once when something new is due, else now and then, and only news. */
import { type ShardOwner, typeKey, type WaitingType } from "@sluice/job-queue";
import type { ServerFrame, TypesFrame } from "../peer/frames.ts";
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
/** A type that nobody knows of yet is told sooner: somebody may have nothing else to do. */
const NEWS_EVERY_MS = 20;
/** Of our time, this part at most goes into looking. */
const SHARE = 10;

interface Told {
  readonly text: string;
  readonly types: ReadonlySet<string>;
}

export class Publisher {
  readonly #ports: PublisherPorts;
  /** By shard: what was told last. */
  readonly #told = new Map<number, Told>();
  readonly #news = { timer: null as Timer, notBefore: -Infinity, everyMs: NEWS_EVERY_MS };
  readonly #all = { timer: null as Timer, notBefore: -Infinity, everyMs: EVERY_MS };

  constructor(ports: PublisherPorts) {
    this.#ports = ports;
  }

  /** Something has changed. */
  note(): void {
    this.#soon(this.#all, () => true);
  }

  /** Something is due that was not. */
  noteDue(): void {
    this.#soon(this.#news, ({ types }, told) => types.some((type) => told?.types.has(keyOf(type)) !== true));
    this.note();
  }

  /** To one who has just come: everything. */
  greet(send: (frame: ServerFrame) => void): void {
    for (const [shard, owner] of this.#ports.owners()) send(frameOf(shard, owner));
  }

  stop(): void {
    for (const round of [this.#news, this.#all]) round.timer?.();
  }

  #soon(round: Round, isWorthIt: (frame: TypesFrame, told: Told | undefined) => boolean): void {
    const { clock, later, hasPeers } = this.#ports;
    if (round.timer !== null || !hasPeers()) return;
    round.timer = later(Math.max(0, round.notBefore - clock.monotonicMs()), () => {
      round.timer = null;
      const began = clock.monotonicMs();
      this.#publish(isWorthIt);
      const now = clock.monotonicMs();
      round.notBefore = now + Math.max(round.everyMs, (now - began) * SHARE);
    });
  }

  #publish(isWorthIt: (frame: TypesFrame, told: Told | undefined) => boolean): void {
    const mine = new Map(this.#ports.owners());
    for (const [shard, owner] of mine) {
      const frame = frameOf(shard, owner);
      const told = this.#told.get(shard);
      if (!isWorthIt(frame, told)) continue;
      const text = newsIn(frame);
      if (told?.text === text) continue;
      this.#told.set(shard, { text, types: new Set(frame.types.map(keyOf)) });
      this.#ports.tell(frame);
    }
    for (const shard of [...this.#told.keys()]) if (!mine.has(shard)) this.#told.delete(shard);
  }
}

type Timer = (() => void) | null;

interface Round {
  timer: Timer;
  notBefore: number;
  readonly everyMs: number;
}

const keyOf = ({ tenant, name }: WaitingType): string => typeKey(tenant, name);

function frameOf(shard: number, owner: ShardOwner): TypesFrame {
  const types = owner.waitingTypes;
  const tenants = [...new Set(types.map(({ tenant }) => tenant))];
  return { t: "types", shard, term: owner.term.term, types, usage: tenants.map((tenant) => owner.usageOf(tenant)) };
}

/** That the time of runs goes on is no news: whoever heard how many there are knows it. */
const newsIn = (frame: TypesFrame): string =>
  JSON.stringify({ ...frame, usage: frame.usage?.map((each) => ({ ...each, runningMs: 0 })) });
