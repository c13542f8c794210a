/** Lets so many tasks run at once; the others wait in the order they came. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  enter(): Promise<void> {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return Promise.resolve();
  }

  /** The place passes on to the next one who waits: it never looks free in between. */
  leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }
}

interface HostGate {
  readonly gate: Gate;
  users: number;
}

/** Requests of the whole process, however many jobs make them: so many per host, so many in all. */
export class HostLimits {
  readonly #perHost: number;
  readonly #all: Gate;
  readonly #hosts = new Map<string, HostGate>();

  constructor(limits: { readonly perHost: number; readonly perProcess: number }) {
    this.#perHost = limits.perHost;
    this.#all = new Gate(limits.perProcess);
  }

  /** Waits for its host first: a slow host's queue takes no place away from the others. */
  async run<T>(host: string, task: () => Promise<T>): Promise<T> {
    const entry = this.#hosts.get(host) ?? { gate: new Gate(this.#perHost), users: 0 };
    this.#hosts.set(host, entry);
    entry.users += 1;
    await entry.gate.enter();
    await this.#all.enter();
    try {
      return await task();
    } finally {
      this.#all.leave();
      entry.gate.leave();
      entry.users -= 1;
      if (entry.users === 0) this.#hosts.delete(host);
    }
  }

  get hostsInUse(): number {
    return this.#hosts.size;
  }
}
