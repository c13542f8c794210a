import { Malformed } from "./jute.ts";

/** A frame longer than this is not one: the largest honest answer, a list of 100,000 children, has 2 MB. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;
const LENGTH_BYTES = 4;

/**
 * Cuts a stream of chunks into frames, without their length. One per connection, so that half a frame left by a
 * connection that broke can never spoil the next one.
 */
export class FrameAssembler {
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Until so many bytes are here no frame is complete: a large one is not copied again at each of its chunks. */
  #wanted = LENGTH_BYTES;

  push(chunk: Buffer): Buffer[] {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return [];
    const stream = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks, this.#bytes);
    const frames: Buffer[] = [];
    let at = 0;
    for (let end = frameEnd(stream, at); end <= stream.length; end = frameEnd(stream, at)) {
      frames.push(stream.subarray(at + LENGTH_BYTES, end));
      at = end;
    }
    this.#keep(stream.subarray(at));
    return frames;
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#wanted = frameEnd(rest, 0);
  }
}

/** Where the frame that begins at `at` ends; if even its length is incomplete, where that ends. */
function frameEnd(stream: Buffer, at: number): number {
  if (stream.length - at < LENGTH_BYTES) return at + LENGTH_BYTES;
  const length = stream.readInt32BE(at);
  if (length < 0 || length > MAX_FRAME_BYTES) throw new Malformed(`frame length ${length}`);
  return at + LENGTH_BYTES + length;
}
