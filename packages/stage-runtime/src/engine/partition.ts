/** Which items fall to this worker. Who has which part of a queue is worked out once for a set of workers. */
import { ownerOfShare, shareOf, SHARES } from "@sluice/queue-core";

type Owner = (share: number, workers: readonly string[]) => string | null;

const UNKNOWN = -1;

export class Partition {
  readonly #self: string;
  readonly #ownerOf: Owner;
  #workers: readonly string[] = [];
  /** 1 = ours, 0 = another's. */
  readonly #isOwn = new Int8Array(SHARES).fill(UNKNOWN);

  constructor(self: string, owner: Owner = ownerOfShare) {
    this.#self = self;
    this.#ownerOf = owner;
  }

  /** Those among whom the items are shared out from now on. */
  among(workers: readonly string[]): void {
    const isSame = workers.length === this.#workers.length && workers.every((name, i) => name === this.#workers[i]);
    if (isSame) return;
    this.#workers = workers;
    this.#isOwn.fill(UNKNOWN);
  }

  isOwn(item: string): boolean {
    return this.#workers.length < 2 || this.isOwnShare(shareOf(item));
  }

  isOwnShare(share: number): boolean {
    if (this.#workers.length < 2) return true;
    if (this.#isOwn[share] === UNKNOWN) this.#isOwn[share] = this.#ownerOf(share, this.#workers) === this.#self ? 1 : 0;
    return this.#isOwn[share] === 1;
  }
}
