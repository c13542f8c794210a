import type { FileHandle } from "node:fs/promises";
import { DigestMeter, type DigestName, type Digests, IoError, type Outcome } from "@sluice/safe-io";
import { failure, success } from "./fault.ts";

export interface Metered {
  readonly bytes: number;
  readonly digests: Digests;
}

/** Reads a stream to its end, counting and hashing; what it reads also goes into `target`, if there is one. */
export async function meterFile(
  source: AsyncIterable<Uint8Array>,
  target: Pick<FileHandle, "write"> | null,
  algorithms: readonly DigestName[],
  signal: AbortSignal,
  onChunk: (chunk: Uint8Array, bytesBefore: number) => void = () => undefined,
): Promise<Outcome<Metered>> {
  const meter = new DigestMeter(algorithms);
  try {
    for await (const chunk of source) {
      signal.throwIfAborted();
      onChunk(chunk, meter.bytes);
      if (target !== null) await writeAll(target, chunk);
      meter.update(chunk);
    }
    return success({ bytes: meter.bytes, digests: meter.digests() });
  } catch (error) {
    if (error instanceof IoError) return failure(error.fault);
    if (signal.aborted) return failure({ code: "ABORTED", message: "given up", retryable: true });
    const full = isFull(error);
    const message = error instanceof Error ? error.message : String(error);
    return failure({ code: full ? "NO_SPACE" : "IO_ERROR", message, retryable: full });
  }
}

const isFull = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && ["ENOSPC", "EDQUOT"].includes(String(error.code));

/** A write may be shorter than asked for, above all on a disk that is getting full. */
async function writeAll(target: Pick<FileHandle, "write">, chunk: Uint8Array): Promise<void> {
  let done = 0;
  while (done < chunk.byteLength) {
    const { bytesWritten } = await target.write(chunk, done, chunk.byteLength - done);
    done += bytesWritten;
  }
}
