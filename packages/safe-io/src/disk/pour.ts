import { DigestMeter, digestMatches, type DigestName, type Digests, type ExpectedDigest } from "../digest-meter.ts";
import { failure, IoError, type IoFault, type Outcome, success } from "../outcome.ts";
import type { UnfinishedFile } from "./contained-folder.ts";
import { faultOfDiskError } from "./fault.ts";
import { writeAll } from "./write-all.ts";

export interface PourOptions {
  readonly expectedDigest?: ExpectedDigest;
  readonly expectedBytes?: number;
  /** Computed besides the expected one. */
  readonly algorithms?: readonly DigestName[];
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
}

export interface Poured {
  readonly bytes: number;
  readonly digests: Digests;
}

/**
 * Writes all that comes into an unfinished file and says whether it is what it should be; finishing it is the caller's.
 * `what` names it in messages. What the source throws is a disk's fault unless it is an IoError.
 */
export async function pourInto(
  source: AsyncIterable<Uint8Array>,
  { handle }: UnfinishedFile,
  what: string,
  options: PourOptions,
): Promise<Outcome<Poured>> {
  const { algorithms = [], expectedDigest } = options;
  const meter = new DigestMeter(expectedDigest === undefined ? algorithms : [...algorithms, expectedDigest.algorithm]);
  try {
    for await (const chunk of source) {
      if (options.signal?.aborted === true) return failure(givenUp(what));
      await writeAll(handle, chunk, meter.bytes);
      meter.update(chunk);
      options.onProgress?.(meter.bytes);
    }
  } catch (error) {
    return failure(error instanceof IoError ? error.fault : faultOfDiskError(error, what));
  }
  const poured = { bytes: meter.bytes, digests: meter.digests() };
  const fault = faultOfContent(poured, what, options);
  return fault === undefined ? success(poured) : failure(fault);
}

/** What is wrong with content that came to its end. */
export function faultOfContent(
  { bytes, digests }: Poured,
  what: string,
  { expectedBytes, expectedDigest }: Pick<PourOptions, "expectedBytes" | "expectedDigest">,
): IoFault | undefined {
  if (expectedBytes !== undefined && bytes !== expectedBytes) {
    const message = `${what}: ${bytes} bytes instead of ${expectedBytes}`;
    return { code: "SIZE_MISMATCH", message, retryable: false };
  }
  if (expectedDigest === undefined || digestMatches(digests, expectedDigest)) return undefined;
  const { algorithm, value } = expectedDigest;
  const message = `${what}: ${algorithm} is ${digests[algorithm] ?? ""} instead of ${value.toLowerCase()}`;
  return { code: "DIGEST_MISMATCH", message, retryable: false };
}

const givenUp = (what: string): IoFault => ({ code: "ABORTED", message: `${what}: given up`, retryable: false });
