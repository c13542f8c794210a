/** What is said over the wall. The other side runs hostile code: everything that comes is checked, and means no more than its fields. */
import { z } from "zod";

export const Said = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("ready") }),
  z.strictObject({ kind: z.literal("done") }),
  z.strictObject({ kind: z.literal("failed"), why: z.string() }),
  z.strictObject({
    kind: z.literal("ended"),
    job: z.int(),
    exit: z.int().min(0).max(999),
    result: z.string().optional(),
    /** Something is still open that the job began. */
    leftovers: z.boolean(),
  }),
]);
export type Said = z.infer<typeof Said>;

export const Question = z.strictObject({
  n: z.int(),
  url: z.string().max(8_192),
  method: z.enum(["GET", "HEAD", "POST", "PUT"]),
  headers: z.record(z.string().max(256), z.string().max(8_192)),
  body: z.string().nullable(),
});
export type Question = z.infer<typeof Question>;

export function frameOf(value: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(value));
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}

const HEAD = 4;

/** Cuts a stream into frames. Null for what is none: too long, or no JSON; nothing after it can be believed. */
export class FrameReader {
  readonly #maxBytes: number;
  #chunks: Buffer[] = [];
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  take(chunk: Buffer): readonly unknown[] | null {
    this.#chunks.push(chunk);
    this.#held += chunk.length;
    const frames: unknown[] = [];
    for (;;) {
      const length = this.#lengthOfNext();
      if (length === null) return frames;
      if (length > this.#maxBytes) return null;
      if (this.#held < HEAD + length) return frames;
      const all = this.#joined();
      const value = parsed(all.toString("utf8", HEAD, HEAD + length));
      if (value === undefined) return null;
      frames.push(value);
      this.#chunks = [all.subarray(HEAD + length)];
      this.#held -= HEAD + length;
    }
  }

  #lengthOfNext(): number | null {
    if (this.#held < HEAD) return null;
    const first = this.#chunks[0];
    return first !== undefined && first.length >= HEAD ? first.readUInt32BE() : this.#joined().readUInt32BE();
  }

  #joined(): Buffer {
    const all = this.#chunks.length === 1 ? (this.#chunks[0] ?? Buffer.alloc(0)) : Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
