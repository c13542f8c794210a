/** A frame longer than this is not one: the largest honest answer, a list of 100,000 children, has 2 MB. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/**
 * Cuts a stream of chunks into frames, without their length. One per connection, so that half a frame left by a
 * connection that broke can never spoil the next one. Throws RangeError at an impossible length.
 */
export class FrameAssembler {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Length of the frame being collected, with its four bytes of length; null while those are incomplete. */
  #wanted: number | null = null;

  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    const frames: Buffer[] = [];
    for (let frame = this.#next(); frame !== null; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): Buffer | null {
    this.#wanted ??= this.#readLength();
    if (this.#wanted === null || this.#bytes < this.#wanted) return null;
    const all = this.#joined();
    const frame = all.subarray(4, this.#wanted);
    this.#chunks = [all.subarray(this.#wanted)];
    this.#bytes -= this.#wanted;
    this.#wanted = null;
    return frame;
  }

  #readLength(): number | null {
    if (this.#bytes < 4) return null;
    const length = this.#joined().readInt32BE(0);
    if (length < 0 || length > MAX_FRAME_BYTES) throw new RangeError(`impossible frame length ${length}`);
    return length + 4;
  }

  /** Joins only when a frame is complete or begins: collecting a large one does not copy it again at each chunk. */
  #joined(): Buffer {
    const [first, ...others] = this.#chunks;
    if (first === undefined) return Buffer.alloc(0);
    if (others.length === 0) return first;
    const all = Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [all];
    return all;
  }
}
