import type { Readable } from "node:stream";

import { failure, IoError, type Outcome, success } from "../outcome.ts";
import type { Deadline } from "./deadline.ts";
import { faultOfError } from "./fault.ts";

/** An accepted answer. Its body must be read, or discarded. */
export interface EgressResponse {
  readonly status: number;
  /** Names in lower case; of repeated ones the first. */
  readonly headers: ReadonlyMap<string, string>;
  /** Where it came from after redirects, as it may be shown. */
  readonly url: string;
  readonly contentLength?: number;
  /** The raw bytes, never decompressed, counted and cut off at the limit. Throws an IoError when it breaks. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body as text; for short answers. */
  text(): Promise<Outcome<string>>;
  discard(): void;
}

export interface ResponseParts {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly place: string;
  readonly stream: Readable;
  readonly maxBytes: number;
  readonly deadline: Deadline;
}

export function makeResponse(parts: ResponseParts): EgressResponse {
  const body = guardedBody(parts);
  const contentLength = contentLengthOf(parts.headers);
  return {
    status: parts.status,
    headers: parts.headers,
    url: parts.place,
    ...(contentLength === undefined ? {} : { contentLength }),
    body,
    text: () => readText(body, parts.place),
    discard: () => discard(parts),
  };
}

export function contentLengthOf(headers: ReadonlyMap<string, string>): number | undefined {
  const text = headers.get("content-length");
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

async function* guardedBody({ stream, maxBytes, place, deadline }: ResponseParts): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) throw new IoError(tooLarge(place, maxBytes));
      yield chunk;
    }
  } catch (error) {
    throw error instanceof IoError ? error : new IoError(deadline.fault(place) ?? faultOfError(error, place));
  } finally {
    deadline.dispose();
  }
}

export const tooLarge = (place: string, maxBytes: number) =>
  ({ code: "TOO_LARGE", message: `${place}: more than ${maxBytes} bytes`, retryable: false }) as const;

async function readText(body: AsyncIterable<Uint8Array>, place: string): Promise<Outcome<string>> {
  const chunks: Uint8Array[] = [];
  try {
    for await (const chunk of body) chunks.push(chunk);
    return success(Buffer.concat(chunks).toString("utf8"));
  } catch (error) {
    return failure(faultOfError(error, place));
  }
}

/** Closes the connection: reading a foreign body to its end only to keep the socket is not worth it. */
export function discard({ stream, deadline }: Pick<ResponseParts, "stream" | "deadline">): void {
  stream.on("error", () => undefined);
  stream.destroy();
  deadline.dispose();
}
