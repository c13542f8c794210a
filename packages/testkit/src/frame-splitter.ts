const LENGTH_BYTES = 4;
/** Nothing ZooKeeper sends is that long; four-letter words read as lengths are. */
const LARGEST_FRAME = 64 * 1024 * 1024;

/** Cuts a byte stream into ZooKeeper's frames, each with its length in front. */
export class FrameSplitter {
  private pending: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): Buffer[] {
    this.pending = this.pending.length === 0 ? chunk : Buffer.concat([this.pending, chunk]);
    const frames: Buffer[] = [];
    for (let end = this.frameEnd(); end !== null; end = this.frameEnd()) {
      frames.push(this.pending.subarray(0, end));
      this.pending = this.pending.subarray(end);
    }
    return frames;
  }

  private frameEnd(): number | null {
    if (this.pending.length < LENGTH_BYTES) return null;
    const length = this.pending.readInt32BE(0);
    if (length < 0 || length > LARGEST_FRAME) return this.pending.length;
    const end = LENGTH_BYTES + length;
    return this.pending.length < end ? null : end;
  }
}
