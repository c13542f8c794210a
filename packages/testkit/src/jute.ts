/** ZooKeeper's serialisation, as far as its wire and its transaction log need it here. */

export class JuteWriter {
  private readonly parts: Buffer[] = [];

  int(value: number): this {
    const part = Buffer.alloc(4);
    part.writeInt32BE(value);
    return this.raw(part);
  }

  long(value: bigint): this {
    const part = Buffer.alloc(8);
    part.writeBigInt64BE(value);
    return this.raw(part);
  }

  bool(value: boolean): this {
    return this.raw(Buffer.from([value ? 1 : 0]));
  }

  buffer(value: Buffer): this {
    return this.int(value.length).raw(value);
  }

  string(value: string): this {
    return this.buffer(Buffer.from(value, "utf8"));
  }

  raw(bytes: Buffer): this {
    this.parts.push(bytes);
    return this;
  }

  bytes(): Buffer {
    return Buffer.concat(this.parts);
  }

  /** With its length in front, as frames stand on the wire. */
  frame(): Buffer {
    const body = this.bytes();
    return new JuteWriter().buffer(body).bytes();
  }
}

const EMPTY = Buffer.alloc(0);

/** Reads forward; past the end it throws a RangeError. */
export class JuteReader {
  private readonly bytes: Buffer;
  private at: number;

  constructor(bytes: Buffer, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  int(): number {
    this.at += 4;
    return this.bytes.readInt32BE(this.at - 4);
  }

  long(): bigint {
    this.at += 8;
    return this.bytes.readBigInt64BE(this.at - 8);
  }

  /** A long that holds a time in milliseconds. */
  time(): number {
    return Number(this.long());
  }

  bool(): boolean {
    this.at += 1;
    return this.bytes.readInt8(this.at - 1) !== 0;
  }

  /** Length -1 stands for null, which we take for empty. */
  buffer(): Buffer {
    const length = this.int();
    if (length <= 0) return EMPTY;
    this.at += length;
    if (this.at > this.bytes.length) throw new RangeError(`buffer of ${length} bytes passes the end`);
    return this.bytes.subarray(this.at - length, this.at);
  }

  string(): string {
    return this.buffer().toString("utf8");
  }

  vector<T>(element: () => T): T[] {
    const length = this.int();
    return Array.from({ length: Math.max(length, 0) }, element);
  }
}
