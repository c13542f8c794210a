import { unwanted } from "./store-entry.ts";

/** Where an entry lies in its container. */
export interface Span {
  readonly name: string;
  readonly start: number;
  /** The first byte behind it. */
  readonly end: number;
}

/** Entries that share bytes are the trick of containers that unpack to far more than they are. Throws an IoError. */
export function refuseOverlaps(spans: readonly Span[]): void {
  const inOrder = spans.toSorted((a, b) => a.start - b.start);
  let before: Span | undefined;
  for (const span of inOrder) {
    if (before !== undefined && span.start < before.end) {
      throw unwanted(span.name, `it overlaps with ${JSON.stringify(before.name)}`);
    }
    before = span;
  }
}
