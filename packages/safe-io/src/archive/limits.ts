import { IoError } from "../outcome.ts";
import { corrupt, refused } from "./fault.ts";

export interface ArchiveLimits {
  readonly maxEntries: number;
  /** Of all files together, unpacked. */
  readonly maxBytes: number;
  /** How many times larger than the container its content may be. */
  readonly maxRatio: number;
  /** Below so many unpacked bytes the ratio does not matter. */
  readonly ratioFloorBytes: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxEntries: 500_000,
  maxBytes: 4_000_000_000_000,
  maxRatio: 200,
  ratioFloorBytes: 100_000_000,
};

/** Counts what a container asks for, and throws an IoError when it is too much. */
export class Budget {
  readonly #limits: ArchiveLimits;
  readonly #archiveBytes: number;
  #entries = 0;
  #bytes = 0;

  constructor(limits: ArchiveLimits, archiveBytes: number) {
    this.#limits = limits;
    this.#archiveBytes = archiveBytes;
  }

  entry(name: string): void {
    this.#entries += 1;
    if (this.#entries > this.#limits.maxEntries) {
      throw new IoError(refused(name, `the container has more than ${this.#limits.maxEntries} entries`));
    }
  }

  /** `name`: the entry at which it is counted. */
  bytes(name: string, count: number): void {
    const { maxBytes, maxRatio, ratioFloorBytes } = this.#limits;
    if (!(count >= 0)) throw new IoError(corrupt(name, "its size is no size"));
    this.#bytes += count;
    if (this.#bytes > maxBytes) {
      throw new IoError({ ...refused(name, `the container has more than ${maxBytes} bytes`), code: "TOO_LARGE" });
    }
    if (this.#bytes > ratioFloorBytes && this.#bytes > maxRatio * this.#archiveBytes) {
      throw new IoError(refused(name, `the content is more than ${maxRatio} times as large as the container`));
    }
  }
}
