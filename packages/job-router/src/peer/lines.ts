/** Lines of JSON over a socket, bounded: a peer that sends no end of line is cut off. */
import type { Socket } from "node:net";

/** A CreateJobs of ten thousand, or a long list. */
export const LINE_BYTES = 64 * 1024 * 1024;
/** Who has not proved who they are has little to say. */
export const FIRST_LINE_BYTES = 4 * 1024;

const END = 0x0a;

export class LineReader {
  limit = FIRST_LINE_BYTES;
  #parts: Buffer[] = [];
  #bytes = 0;

  /** The lines that are complete now; null: one is too long. */
  push(chunk: Buffer): readonly string[] | null {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(END); end >= 0; end = chunk.indexOf(END, from)) {
      this.#add(chunk.subarray(from, end));
      if (this.#bytes > this.limit) return null;
      lines.push(Buffer.concat(this.#parts).toString("utf8"));
      this.#parts = [];
      this.#bytes = 0;
      from = end + 1;
    }
    this.#add(chunk.subarray(from));
    return this.#bytes > this.limit ? null : lines;
  }

  #add(part: Buffer): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#bytes += part.length;
  }
}

/** What is written in one tick travels together. */
export class LineWriter {
  readonly #socket: Socket;
  #corked = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  write(line: string): void {
    if (!this.#socket.writable) return;
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      queueMicrotask(() => {
        this.#corked = false;
        this.#socket.uncork();
      });
    }
    this.#socket.write(`${line}\n`);
  }
}

export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return null;
  }
}
