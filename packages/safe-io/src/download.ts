import type { FileHandle } from "node:fs/promises";

import { digestMatches, type DigestName, type Digests, type ExpectedDigest, meterStream } from "./digest-meter.ts";
import type { ContainedFolder } from "./disk/contained-folder.ts";
import { faultOfContent } from "./disk/pour.ts";
import type { Egress, RequestOptions } from "./egress/egress.ts";
import { failure, type IoFault, type Outcome, success } from "./outcome.ts";
import { type Aside, endFile } from "./rejected.ts";
import { realWait, type RetryPlan, retryDelayMs, type Wait } from "./retry.ts";
import { displayUrl } from "./secrets.ts";
import { fetchInto, type Transfer } from "./transfer.ts";

export interface DownloadOptions {
  readonly expectedDigest?: ExpectedDigest;
  readonly expectedBytes?: number;
  readonly maxBytes?: number;
  /** Computed besides sha256 and the expected one. */
  readonly algorithms?: readonly DigestName[];
  readonly request?: Omit<RequestOptions, "signal" | "maxBytes" | "accepts">;
  readonly signal?: AbortSignal;
  readonly onProgress?: (bytes: number) => void;
  readonly retry?: Partial<RetryPlan>;
  /** Where content with another digest than expected is kept, as evidence; otherwise it is dropped. */
  readonly rejected?: Aside;
  /** Ports, for tests. */
  readonly wait?: Wait;
  readonly random?: () => number;
}

export interface Downloaded {
  readonly bytes: number;
  /** sha256 always, and the expected algorithm. */
  readonly digests: Digests;
  /** The file was there already, with the expected digest. */
  readonly reused: boolean;
  readonly attempts: number;
  readonly contentType?: string;
}

/**
 * Fetches a URL into a file. The file appears under its name only when it is whole, has the expected size and digest and
 * is on disk. Broken transfers go on where they stopped if the server proves (by a strong ETag) that it is still the same
 * content, and start over if not.
 */
export async function downloadTo(
  egress: Egress,
  url: string,
  folder: ContainedFolder,
  name: string,
  options: DownloadOptions = {},
): Promise<Outcome<Downloaded>> {
  const present = await verifyPresent(folder, name, options);
  if (present !== undefined) return success(present);
  const file = await folder.begin(name);
  if (!file.ok) return file;
  return endFile(file.value, await new Download(egress, url, file.value.handle, options).run(), options.rejected);
}

/** A file from an earlier attempt is good if its digest is the expected one; without an expected digest nothing is proven. */
async function verifyPresent(
  folder: ContainedFolder,
  name: string,
  options: DownloadOptions,
): Promise<Downloaded | undefined> {
  if (options.expectedDigest === undefined) return undefined;
  const stream = await folder.readStream(name);
  if (!stream.ok) return undefined;
  try {
    const { bytes, digests } = await meterStream(stream.value, algorithmsOf(options));
    const sameSize = options.expectedBytes === undefined || options.expectedBytes === bytes;
    if (!sameSize || !digestMatches(digests, options.expectedDigest)) return undefined;
    return { bytes, digests, reused: true, attempts: 0 };
  } catch {
    return undefined; // An unreadable file is replaced.
  }
}

function algorithmsOf({ expectedDigest, algorithms = [] }: DownloadOptions): DigestName[] {
  return ["sha256", ...algorithms, ...(expectedDigest === undefined ? [] : [expectedDigest.algorithm])];
}

const DEFAULT_RETRY: RetryPlan = { attempts: 4, baseMs: 500, maxMs: 30_000, maxRetryAfterMs: 60_000 };

/** Our own disk: trying the network again does not help. */
const LOCAL: ReadonlySet<string> = new Set(["NO_SPACE", "IO_ERROR", "LINK_REFUSED"]);

class Download {
  readonly #egress: Egress;
  readonly #url: string;
  readonly #handle: FileHandle;
  readonly #options: DownloadOptions;
  readonly #plan: RetryPlan;

  constructor(egress: Egress, url: string, handle: FileHandle, options: DownloadOptions) {
    this.#egress = egress;
    this.#url = url;
    this.#handle = handle;
    this.#options = options;
    this.#plan = { ...DEFAULT_RETRY, ...options.retry };
  }

  async run(): Promise<Outcome<Downloaded>> {
    let transfer: Transfer | undefined;
    for (let attempts = 1; ; attempts += 1) {
      transfer = await fetchInto(this.#egress, this.#url, this.#handle, this.#transferOptions(), transfer);
      const fault = transfer.fault ?? this.#verdict(transfer);
      if (fault === undefined) return success(downloaded(transfer, attempts));
      const delayMs = retryDelayMs(fault, attempts, this.#plan, this.#options.random ?? Math.random);
      if (delayMs === undefined || LOCAL.has(fault.code)) return failure(fault);
      if (transfer.fault === undefined) transfer = undefined; // It came to its end and was wrong: from the start.
      await (this.#options.wait ?? realWait)(delayMs, this.#options.signal);
      if (this.#options.signal?.aborted === true) return failure(this.#aborted());
    }
  }

  /** Nobody may send more than he announced. */
  #transferOptions() {
    const { maxBytes = Number.MAX_SAFE_INTEGER, expectedBytes = Number.MAX_SAFE_INTEGER } = this.#options;
    return {
      algorithms: algorithmsOf(this.#options),
      maxBytes: Math.min(maxBytes, expectedBytes),
      ...(this.#options.request === undefined ? {} : { request: this.#options.request }),
      ...(this.#options.signal === undefined ? {} : { signal: this.#options.signal }),
      ...(this.#options.onProgress === undefined ? {} : { onProgress: this.#options.onProgress }),
    };
  }

  /** What is wrong with a transfer that came to its end, and whether another one may be better. */
  #verdict({ bytes, digests = {}, joined, lengthProven }: Transfer): IoFault | undefined {
    const fault = faultOfContent({ bytes, digests }, displayUrl(this.#url), this.#options);
    // Of joined parts with a wrong digest the server's ETag may be to blame.
    const retryable = joined || (fault?.code === "SIZE_MISMATCH" && !lengthProven);
    return fault === undefined ? undefined : { ...fault, retryable };
  }

  #aborted(): IoFault {
    return { code: "ABORTED", message: `${displayUrl(this.#url)}: given up`, retryable: false };
  }
}

function downloaded({ bytes, digests = {}, contentType }: Transfer, attempts: number): Downloaded {
  return { bytes, digests, reused: false, attempts, ...(contentType === undefined ? {} : { contentType }) };
}
