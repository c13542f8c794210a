import { BitReader } from "./bits.ts";

/** Compressed bytes as they come, and a place among them. */
export class BitInput {
  readonly #source: AsyncIterator<Uint8Array>;
  #bytes: Uint8Array = new Uint8Array();
  #ended = false;
  bits = new BitReader(this.#bytes, 0);

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Sees that so many bytes can be read, unless there are no more; what was read is forgotten. */
  async provide(count: number): Promise<void> {
    const used = this.bits.position >>> 3;
    const parts = [this.#bytes.subarray(used)];
    let here = this.#bytes.length - used;
    if (here >= count || this.#ended) return;
    while (here < count && !this.#ended) {
      const next = await this.#source.next();
      if (next.done === true) this.#ended = true;
      else {
        parts.push(next.value);
        here += next.value.length;
      }
    }
    const bit = this.bits.position & 7;
    this.#bytes = Buffer.concat(parts);
    this.bits = new BitReader(this.#bytes, bit);
  }

  /** Known after a `provide`. */
  get isAtEnd(): boolean {
    return this.#ended && this.bits.position >= this.#bytes.length * 8;
  }

  /** Lets go of the source. */
  async close(): Promise<void> {
    await this.#source.return?.();
  }
}
