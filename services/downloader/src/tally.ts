import { fail, type Outcome, type Progress, retry, snooze } from "@sluice/stage-runtime";
import type { WalkAnswer } from "@sluice/working-folder";
import type { FileVerdict } from "./file-verdict.ts";

type Trouble = Exclude<FileVerdict, { kind: "got" }>;

/** Passing failures after which the rest is left for the next attempt: the host has other worries. */
const PATIENCE = 10;

/** Counts what the files of one job came to. */
export class Tally {
  readonly #inFlight = new Map<string, number>();
  #files = 0;
  #bytes = 0;
  #again = 0;
  #worst: Trouble | undefined;

  /** How far one file is. */
  progressOf(name: string, bytes: number): void {
    this.#inFlight.set(name, bytes);
  }

  /** A file that can never be had stops all others; too many that may be had later stop only the search for more. */
  add(name: string, verdict: FileVerdict): WalkAnswer {
    this.#inFlight.delete(name);
    if (verdict.kind === "got") {
      this.#files += 1;
      this.#bytes += verdict.bytes;
      return "go-on";
    }
    if (verdict.kind === "again") this.#again += 1;
    if (this.#worst === undefined || gravity(verdict) > gravity(this.#worst)) this.#worst = verdict;
    if (verdict.kind !== "again") return "abort";
    return this.#again < PATIENCE ? "go-on" : "stop";
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** With files that are not whole yet. */
  get bytesHere(): number {
    return [...this.#inFlight.values()].reduce((sum, bytes) => sum + bytes, this.#bytes);
  }

  get files(): number {
    return this.#files;
  }

  /** `estimated` may be too low: the total is never shown below what is there. */
  progress(estimatedBytes: number): Progress {
    const doneBytes = this.bytesHere;
    const totalBytes = estimatedBytes === 0 ? null : Math.max(estimatedBytes, doneBytes);
    return { doneBytes, totalBytes, note: `${this.#files} files here` };
  }

  /** What the job's trouble comes to; undefined: every file is here. */
  trouble(diskFullWaitMs: number): Outcome | undefined {
    const worst = this.#worst;
    switch (worst?.kind) {
      case undefined:
        return undefined;
      case "never":
        return fail(worst.code, worst.message);
      case "disk-full":
        return snooze(diskFullWaitMs, `no room on the working volume: ${worst.message}`);
      case "again":
        return retry("DOWNLOAD_FAILED", worst.message + others(this.#again - 1), worst.delayMs);
      case "aborted":
        return retry("DOWNLOAD_FAILED", "stopped before all files were here");
    }
  }
}

/** What cannot be mended outweighs what passes. */
const gravity = ({ kind }: Trouble): number => ["aborted", "again", "disk-full", "never"].indexOf(kind);

const others = (count: number): string => (count > 0 ? ` (and ${count} more)` : "");
