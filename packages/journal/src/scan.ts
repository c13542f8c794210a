/** What a segment holds: its whole records, what is damaged between them, and where a write was torn. Pure. */
import { decodeFrame, findFrame, type Frame } from "./frame.ts";

export interface Scan {
  readonly frames: readonly Frame[];
  readonly damaged: readonly Range[];
  /** From here on is what a write left that was never answered; null = the segment ends with a whole record. */
  readonly tornAt: number | null;
}

export interface Range {
  readonly offset: number;
  readonly bytes: number;
}

/** Only the segment that was written last can end in a torn write: all others were whole when the next one was begun. */
export function scanSegment(bytes: Buffer, isLast: boolean): Scan {
  const frames: Frame[] = [];
  const damaged: Range[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const frame = decodeFrame(bytes, offset);
    if (frame !== null) {
      frames.push(frame);
      offset = frame.end;
      continue;
    }
    if (isLast && !wasSynced(bytes, offset)) return { frames, damaged, tornAt: offset };
    const next = findFrame(bytes, offset + 1)?.offset ?? bytes.length;
    damaged.push({ offset, bytes: next - offset });
    offset = next;
  }
  return { frames, damaged, tornAt: null };
}

/** A later group was begun, so this place had been written down and answered for. */
function wasSynced(bytes: Buffer, offset: number): boolean {
  return findFrame(bytes, offset + 1, ({ group }) => group > offset) !== null;
}
