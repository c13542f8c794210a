import type { FileHandle } from "node:fs/promises";

/** A write may be shorter than asked for, above all on a disk that is getting full. */
export async function writeAll(handle: FileHandle, chunk: Uint8Array, position: number): Promise<void> {
  let done = 0;
  while (done < chunk.byteLength) {
    const { bytesWritten } = await handle.write(chunk, done, chunk.byteLength - done, position + done);
    done += bytesWritten;
  }
}
