/** Which items fall to this worker: each is hashed once for a set of workers, however often its directory is listed. */
import { ownerOf } from "@sluice/queue-core";

type Owner = (item: string, workers: readonly string[]) => string | null;

export class Partition {
  readonly #self: string;
  readonly #ownerOf: Owner;
  #workers: readonly string[] = [];
  #isOwn = new Map<string, boolean>();

  constructor(self: string, owner: Owner = ownerOf) {
    this.#self = self;
    this.#ownerOf = owner;
  }

  /** Those among whom the items are shared out from now on. */
  among(workers: readonly string[]): void {
    const isSame = workers.length === this.#workers.length && workers.every((name, i) => name === this.#workers[i]);
    if (isSame) return;
    this.#workers = workers;
    this.#isOwn = new Map();
  }

  isOwn(item: string): boolean {
    if (this.#workers.length < 2) return true;
    const known = this.#isOwn.get(item);
    if (known !== undefined) return known;
    const isOwn = this.#ownerOf(item, this.#workers) === this.#self;
    this.#isOwn.set(item, isOwn);
    return isOwn;
  }

  keepOnly(present: ReadonlySet<string>): void {
    if (this.#isOwn.size <= present.size) return;
    for (const item of this.#isOwn.keys()) if (!present.has(item)) this.#isOwn.delete(item);
  }
}
