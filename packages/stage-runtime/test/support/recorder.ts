/** Collects what the engine did, and lets a test wait for the next thing it is interested in. */
import type { ProbeEvent } from "../../src/engine/probes.ts";

type Of<K extends ProbeEvent["kind"]> = Extract<ProbeEvent, { kind: K }>;

export class Recorder {
  readonly events: ProbeEvent[] = [];
  readonly #listeners = new Set<() => void>();

  readonly probe = (event: ProbeEvent): void => {
    this.events.push(event);
    for (const listener of [...this.#listeners]) listener();
  };

  all<K extends ProbeEvent["kind"]>(kind: K): Of<K>[] {
    return this.events.filter((event): event is Of<K> => event.kind === kind);
  }

  /** Resolves with all events of the kind that fit, once there are so many. */
  until<K extends ProbeEvent["kind"]>(
    kind: K,
    count = 1,
    fits: (event: Of<K>) => boolean = () => true,
  ): Promise<Of<K>[]> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.all(kind).filter(fits);
        if (found.length < count) return;
        this.#listeners.delete(look);
        resolve(found);
      };
      this.#listeners.add(look);
      look();
    });
  }

  settled(count = 1): Promise<Of<"settled">[]> {
    return this.until("settled", count);
  }
}
