/** ZooKeeper's wire format, jute: big-endian ints and longs, and lengths before texts, buffers and vectors. */

export class JuteWriter {
  #buffer: Buffer;
  #at = 0;

  constructor(capacity: number) {
    this.#buffer = Buffer.allocUnsafe(Math.max(capacity, 32));
  }

  int(value: number): void {
    this.#reserve(4);
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  long(value: bigint): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeBigInt64BE(value, this.#at);
  }

  bool(value: boolean): void {
    this.#reserve(1);
    this.#at = this.#buffer.writeUInt8(value ? 1 : 0, this.#at);
  }

  text(value: string): void {
    // A UTF-16 unit takes three bytes at most; how many it took is known afterwards.
    this.#reserve(4 + 3 * value.length);
    const length = this.#buffer.write(value, this.#at + 4);
    this.#buffer.writeInt32BE(length, this.#at);
    this.#at += 4 + length;
  }

  bytes(value: Buffer): void {
    this.int(value.length);
    this.#reserve(value.length);
    this.#at += value.copy(this.#buffer, this.#at);
  }

  texts(values: readonly string[]): void {
    this.int(values.length);
    for (const value of values) this.text(value);
  }

  /** Everything written so far; its first int becomes the length of what follows it. */
  finishFrame(): Buffer {
    this.#buffer.writeInt32BE(this.#at - 4, 0);
    return this.#buffer.subarray(0, this.#at);
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + count));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

/** Bytes that are not what the protocol says. The connection they came by is of no more use. */
export class Malformed extends Error {}

/** Reads what JuteWriter writes; throws Malformed when the bytes end early. */
export class JuteReader {
  readonly #buffer: Buffer;
  #at: number;

  constructor(buffer: Buffer, at = 0) {
    this.#buffer = buffer;
    this.#at = at;
  }

  int(): number {
    return this.#buffer.readInt32BE(this.#advance(4));
  }

  long(): bigint {
    return this.#buffer.readBigInt64BE(this.#advance(8));
  }

  bool(): boolean {
    return this.#buffer.readUInt8(this.#advance(1)) !== 0;
  }

  text(): string {
    const length = Math.max(this.int(), 0);
    const start = this.#advance(length);
    return this.#buffer.toString("utf8", start, start + length);
  }

  /** A text or bytes that nobody wants. */
  skip(): void {
    this.#advance(Math.max(this.int(), 0));
  }

  /** A copy: a view would keep the whole network chunk in memory for as long as the caller keeps the data. */
  bytes(): Buffer {
    return Buffer.from(this.#slice());
  }

  texts(): string[] {
    const count = this.int();
    const values: string[] = [];
    for (let i = 0; i < count; i++) values.push(this.text());
    return values;
  }

  rest(): Buffer {
    return this.#buffer.subarray(this.#at);
  }

  /** Length -1 is how jute says null, which to us is empty. */
  #slice(): Buffer {
    const length = Math.max(this.int(), 0);
    const start = this.#advance(length);
    return this.#buffer.subarray(start, start + length);
  }

  #advance(count: number): number {
    const start = this.#at;
    if (start + count > this.#buffer.length) throw new Malformed(`${count} bytes expected at ${start}, fewer present`);
    this.#at = start + count;
    return start;
  }
}

/** For the client, to which longs are buffers. */
export function longBuffer(value: bigint): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(value);
  return buffer;
}
