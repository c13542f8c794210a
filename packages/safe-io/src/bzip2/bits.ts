/** What is wrong with the compressed bytes, in words. */
export class Bzip2Error extends Error {
  constructor(message: string) {
    super(message);
    this.name = "Bzip2Error";
  }
}

/** Reads bits, the highest of each byte first, from bytes that are all here. */
export class BitReader {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #position: number;

  /** `position`: the bit to begin at. */
  constructor(bytes: Uint8Array, position: number) {
    this.#bytes = bytes;
    this.#end = bytes.length * 8;
    this.#position = position;
  }

  /** Of the next bit. */
  get position(): number {
    return this.#position;
  }

  /** The next bits, which may reach behind the end, as zeros; at most 24. */
  peek(count: number): number {
    const bytes = this.#bytes;
    const at = this.#position >>> 3;
    const word =
      ((bytes[at] ?? 0) << 24) | ((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0);
    return (word << (this.#position & 7)) >>> (32 - count);
  }

  skip(count: number): void {
    this.#position += count;
    if (this.#position > this.#end) throw new Bzip2Error("it breaks off");
  }

  /** At most 24. */
  take(count: number): number {
    const value = this.peek(count);
    this.skip(count);
    return value;
  }

  takeUint32(): number {
    return this.take(16) * 0x1_0000 + this.take(16);
  }

  /** To the beginning of the next byte. */
  align(): void {
    this.#position = (this.#position + 7) & ~7;
  }
}
