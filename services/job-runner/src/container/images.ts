/** Images on the engine: fetched when they are missing, up to a size, and removed when nobody has used them for a while. */

export interface ImageFacts {
  readonly bytes: number;
  /** Folders that it declares as volumes. */
  readonly volumes: readonly string[];
}

export interface ImagePorts {
  /** Null: it is not on the engine. */
  readonly find: (image: string) => Promise<ImageFacts | null>;
  readonly pull: (image: string, maxBytes: number) => Promise<void>;
  /** Refused by the engine, with false, while any container uses it. */
  readonly remove: (image: string) => Promise<boolean>;
  readonly nowMs: () => number;
  readonly maxBytes: number;
  readonly keepMs: number;
}

interface Pulled {
  users: number;
  usedMs: number;
}

export class Images {
  readonly #ports: ImagePorts;
  /** Those that were not there before this runner fetched them. Others are not ours to remove. */
  readonly #pulled = new Map<string, Pulled>();
  /** One at a time for each image: none is removed while another job finds it there. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor(ports: ImagePorts) {
    this.#ports = ports;
  }

  /** To be followed by `done`. */
  use(image: string): Promise<ImageFacts> {
    return this.#inTurn(image, async () => {
      const facts = (await this.#ports.find(image)) ?? (await this.#fetched(image));
      const pulled = this.#pulled.get(image);
      if (pulled !== undefined) pulled.users += 1;
      return facts;
    });
  }

  done(image: string): void {
    const pulled = this.#pulled.get(image);
    if (pulled === undefined) return;
    pulled.users -= 1;
    pulled.usedMs = this.#ports.nowMs();
  }

  /** Answers how many it removed. */
  async tidy(keepMs: number = this.#ports.keepMs): Promise<number> {
    let removed = 0;
    for (const image of [...this.#pulled.keys()]) {
      const gone = await this.#inTurn(image, async () => {
        const pulled = this.#pulled.get(image);
        if (pulled === undefined || pulled.users > 0 || this.#ports.nowMs() - pulled.usedMs < keepMs) return false;
        // Another runner's container may use it: then it is tried again the next time.
        if (!(await this.#ports.remove(image))) return false;
        return this.#pulled.delete(image);
      });
      if (gone) removed += 1;
    }
    return removed;
  }

  async #fetched(image: string): Promise<ImageFacts> {
    const { find, pull, remove, maxBytes, nowMs } = this.#ports;
    await pull(image, maxBytes);
    const facts = await find(image);
    if (facts === null) throw new Error(`the engine has no image ${image} after it fetched it`);
    if (facts.bytes <= maxBytes) {
      this.#pulled.set(image, { users: 0, usedMs: nowMs() });
      return facts;
    }
    await remove(image);
    throw new Error(tooLarge(image, maxBytes));
  }

  #inTurn<T>(image: string, what: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(image) ?? Promise.resolve();
    const turn = before.then(what, what);
    this.#turns.set(image, turn);
    const forget = (): void => {
      if (this.#turns.get(image) === turn) this.#turns.delete(image);
    };
    turn.then(forget, forget);
    return turn;
  }
}

export const tooLarge = (image: string, maxBytes: number): string =>
  `the image ${image} is larger than ${maxBytes} bytes (CONTAINER_IMAGE_MAX_MB of this runner)`;
