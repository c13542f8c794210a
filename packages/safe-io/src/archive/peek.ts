export interface Peeked {
  /** The first bytes, fewer where there are no more. */
  readonly head: Buffer;
  /** All of it, the first bytes included. */
  readonly whole: AsyncIterable<Uint8Array>;
}

/** Looks at the beginning of a stream; `whole` must be read then. */
export async function peek(source: AsyncIterable<Uint8Array>, bytes: number): Promise<Peeked> {
  const rest = source[Symbol.asyncIterator]();
  const first: Uint8Array[] = [];
  for (let here = 0; here < bytes;) {
    const next = await rest.next();
    if (next.done === true) break;
    first.push(next.value);
    here += next.value.byteLength;
  }
  return { head: Buffer.concat(first).subarray(0, bytes), whole: joined(first, rest) };
}

async function* joined(first: readonly Uint8Array[], rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
