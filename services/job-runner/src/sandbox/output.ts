/** What a context prints, cut into lines and given to the job that runs, up to a bound. */
import { StringDecoder } from "node:string_decoder";

export interface Output {
  /** Of this job, in order; cut off beyond the bounds. */
  readonly lines: readonly string[];
  /** Lines that were dropped. */
  readonly dropped: number;
}

export interface OutputLimits {
  readonly bytes: number;
  readonly lines: number;
  readonly lineBytes: number;
}

/** Lines come until the mark that only the harness was told: it stands behind everything that the job printed. */
export class OutputReader {
  readonly #limits: OutputLimits;
  readonly #onFlood: () => void;
  #mark: string | null = null;
  #onMark: (() => void) | null = null;
  #bytes = 0;
  /** Of the line that has begun, up to what is kept of one: each chunk is looked at once, however small they are. */
  #pieces: string[] = [];
  #length = 0;
  /** A character may come in two chunks. */
  #decoder = new StringDecoder("utf8");
  #lines: string[] = [];
  #dropped = 0;

  constructor(limits: OutputLimits, onFlood: () => void) {
    this.#limits = limits;
    this.#onFlood = onFlood;
  }

  begin(mark: string): void {
    this.#mark = mark;
    this.#bytes = 0;
    this.#pieces = [];
    this.#length = 0;
    this.#decoder = new StringDecoder("utf8");
    this.#lines = [];
    this.#dropped = 0;
  }

  /** Resolves when the mark has come. */
  untilMark(): Promise<void> {
    if (this.#mark === null) return Promise.resolve();
    return new Promise((resolve) => (this.#onMark = resolve));
  }

  taken(): Output {
    return { lines: this.#lines, dropped: this.#dropped };
  }

  /** What is printed between two jobs belongs to none, but counts. */
  push(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.bytes) {
      this.#onFlood();
      return;
    }
    const [first = "", ...next] = this.#decoder.write(chunk).split("\n");
    this.#keep(first);
    for (const piece of next) {
      this.#line(this.#pieces.join(""));
      this.#pieces = [];
      this.#length = 0;
      this.#keep(piece);
    }
  }

  #keep(piece: string): void {
    if (piece === "" || this.#length > this.#limits.lineBytes) return;
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #line(line: string): void {
    if (this.#mark === null || line === "") return;
    if (line === this.#mark) {
      this.#mark = null;
      this.#onMark?.();
      this.#onMark = null;
      return;
    }
    if (this.#lines.length >= this.#limits.lines) this.#dropped += 1;
    else this.#lines.push(line.length > this.#limits.lineBytes ? line.slice(0, this.#limits.lineBytes) : line);
  }
}
