import { TextDecoder } from "node:util";

import type { FormatProblem } from "../problem.ts";

/** Bytes (UTF-8) or text in pieces of any size, or all at once. */
export type ManifestSource = string | Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

export interface LineLimits {
  readonly maxBytes: number;
  readonly maxLineLength: number;
}

export interface Line {
  readonly number: number;
  readonly text: string;
}

export type LineOrProblem = Line | { readonly problem: FormatProblem };

/**
 * Cuts chunks into lines: LF or CRLF, byte order mark dropped, the last line end optional. The first problem (bytes that
 * are not UTF-8, NUL, too long) is the last thing it gives. Holds one unfinished line.
 */
export class LineCutter {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  readonly #limits: LineLimits;
  #number = 0;
  #rest = "";
  #bytes = 0;

  constructor(limits: LineLimits) {
    this.#limits = limits;
  }

  take(chunk: string | Uint8Array): LineOrProblem[] {
    this.#bytes += typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength;
    const text = decode(this.#decoder, chunk);
    if (text === undefined) return [notUtf8(this.#number + 1)];
    if (this.#bytes > this.#limits.maxBytes) return [tooLarge(this.#limits.maxBytes)];
    const pieces = (this.#rest + text).split("\n");
    this.#rest = pieces.pop() ?? "";
    const lines = pieces.map((piece) => this.#line(piece));
    const most = this.#limits.maxLineLength;
    return this.#rest.length > most ? [...lines, tooLong(this.#number + 1, most)] : lines;
  }

  end(): LineOrProblem[] {
    const tail = finish(this.#decoder);
    if (tail === undefined) return [notUtf8(this.#number + 1)];
    return this.#rest + tail === "" ? [] : [this.#line(this.#rest + tail)];
  }

  #line(piece: string): LineOrProblem {
    this.#number += 1;
    return cleanLine(piece, this.#number, this.#limits);
  }
}

/** Undefined: not UTF-8. A piece of text passes through the encoder, so that text and bytes can be mixed. */
function decode(decoder: TextDecoder, chunk: string | Uint8Array): string | undefined {
  try {
    return decoder.decode(typeof chunk === "string" ? Buffer.from(chunk) : chunk, { stream: true });
  } catch {
    return undefined;
  }
}

function finish(decoder: TextDecoder): string | undefined {
  try {
    return decoder.decode();
  } catch {
    return undefined;
  }
}

function cleanLine(raw: string, number: number, limits: LineLimits): LineOrProblem {
  const text = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
  if (text.length > limits.maxLineLength) return tooLong(number, limits.maxLineLength);
  if (!text.includes("\0")) return { number, text };
  return { problem: { code: "NUL_CHARACTER", message: "the line contains a NUL character", line: number } };
}

const notUtf8 = (line: number): LineOrProblem => ({
  problem: {
    code: "NOT_UTF8",
    message: "the text is not UTF-8, in this line or soon after",
    line,
    expected: "UTF-8",
  },
});

const tooLarge = (maxBytes: number): LineOrProblem => ({
  problem: {
    code: "MANIFEST_TOO_LARGE",
    message: `the manifest has more than ${maxBytes} bytes`,
    expected: `at most ${maxBytes} bytes`,
  },
});

const tooLong = (line: number, max: number): LineOrProblem => ({
  problem: {
    code: "LINE_TOO_LONG",
    message: `the line has more than ${max} characters`,
    line,
    expected: `at most ${max} characters`,
  },
});
