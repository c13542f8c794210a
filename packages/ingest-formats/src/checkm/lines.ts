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
 * Cuts a source into lines: LF or CRLF, byte order mark dropped, the last line end optional. The first problem (bytes
 * that are not UTF-8, NUL, too long) is the last thing it yields. Holds one chunk and one line at a time.
 */
export async function* manifestLines(source: ManifestSource, limits: LineLimits): AsyncGenerator<LineOrProblem> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  let rest = "";
  let bytes = 0;
  for await (const chunk of typeof source === "string" ? [source] : source) {
    bytes += typeof chunk === "string" ? Buffer.byteLength(chunk) : chunk.byteLength;
    const text = decode(decoder, chunk);
    if (text === undefined) {
      yield notUtf8(number + 1);
      return;
    }
    if (bytes > limits.maxBytes) {
      yield tooLarge(limits.maxBytes);
      return;
    }
    const pieces = (rest + text).split("\n");
    rest = pieces.pop() ?? "";
    for (const piece of pieces) {
      number += 1;
      const line = cleanLine(piece, number, limits);
      yield line;
      if ("problem" in line) return;
    }
    if (rest.length > limits.maxLineLength) {
      yield tooLong(number + 1, limits.maxLineLength);
      return;
    }
  }
  const tail = finish(decoder);
  if (tail === undefined) {
    yield notUtf8(number + 1);
    return;
  }
  if (rest + tail !== "") yield cleanLine(rest + tail, number + 1, limits);
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
