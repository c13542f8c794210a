import { IoError } from "../outcome.ts";
import { corrupt, refused } from "./fault.ts";

export interface ArchiveLimits {
  /** Files and folders, also folders that only the names of others imply. */
  readonly maxEntries: number;
  /** Folders above a file. */
  readonly maxDepth: number;
  /** Entries above the floor for each byte of the container: a name that an honest packer wrote takes several bytes. */
  readonly maxEntriesPerByte: number;
  readonly entriesFloor: number;
  /** Folders that must be made, more than there are files so far: a folder costs as much as a file, and takes no byte. */
  readonly maxFoldersBeyondFiles: number;
  /** For unpacking a container of no size … */
  readonly maxMs: number;
  /** … and a larger one has the time that it takes at this pace besides. */
  readonly minBytesPerSecond: number;
  /** Of all files together, unpacked. */
  readonly maxBytes: number;
  /** How many times larger than the container its content may be. */
  readonly maxRatio: number;
  /** Below so many unpacked bytes the ratio does not matter. */
  readonly ratioFloorBytes: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  maxEntries: 500_000,
  maxDepth: 100,
  maxEntriesPerByte: 0.5,
  entriesFloor: 1_000,
  maxFoldersBeyondFiles: 10_000,
  maxMs: 3_600_000,
  minBytesPerSecond: 5_000_000,
  maxBytes: 4_000_000_000_000,
  maxRatio: 200,
  ratioFloorBytes: 100_000_000,
};

/** Counts what a container asks for, and throws an IoError when it is too much. */
export class Budget {
  readonly #limits: ArchiveLimits;
  readonly #archiveBytes: number;
  /** Never more than entries are allowed. True: a file is below it, so that it must be made. */
  readonly #folders = new Map<string, boolean>();
  #entries = 0;
  #files = 0;
  #foldersToMake = 0;
  #bytes = 0;

  constructor(limits: ArchiveLimits, archiveBytes: number) {
    this.#limits = limits;
    this.#archiveBytes = archiveBytes;
  }

  /** A file or folder, with the folders above it that were not counted yet. */
  entry(name: string, isFolder = false): void {
    const folders = name === "" ? 0 : name.split("/").length - (isFolder ? 0 : 1);
    if (folders > this.#limits.maxDepth)
      throw new IoError(refused(name, `it is more than ${this.#limits.maxDepth} folders deep`));
    if (!isFolder) this.#countFile(name);
    // From the deepest upwards: above a folder that was counted all were.
    for (let above = isFolder ? name : parentOf(name); above !== ""; above = parentOf(above)) {
      const isToBeMade = this.#folders.get(above);
      if (isToBeMade === true || (isFolder && isToBeMade !== undefined)) return;
      this.#folders.set(above, !isFolder);
      if (isToBeMade === undefined) this.#count(name);
      if (!isFolder) this.#countFolderToMake(name);
    }
  }

  /** How long all of it may take. */
  get maxMs(): number {
    const { maxMs, minBytesPerSecond } = this.#limits;
    return maxMs + (1_000 * this.#archiveBytes) / minBytesPerSecond;
  }

  #countFile(name: string): void {
    this.#files += 1;
    this.#count(name);
  }

  /** Before it is made: what is refused here has not touched the disk. */
  #countFolderToMake(name: string): void {
    const { maxFoldersBeyondFiles } = this.#limits;
    this.#foldersToMake += 1;
    if (this.#foldersToMake - this.#files <= maxFoldersBeyondFiles) return;
    const why = `the container has over ${maxFoldersBeyondFiles} folders more than files up to here`;
    throw new IoError(refused(name, `${why}; pack it flatter`));
  }

  #count(name: string): void {
    const { maxEntries, maxEntriesPerByte, entriesFloor } = this.#limits;
    this.#entries += 1;
    if (this.#entries > maxEntries)
      throw new IoError(refused(name, `the container has more than ${maxEntries} entries, folders included`));
    if (this.#entries > Math.max(entriesFloor, maxEntriesPerByte * this.#archiveBytes))
      throw new IoError(refused(name, "the container has too many entries for its size, folders included"));
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

const parentOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf("/")));
