/**
 * One record on disk: a header of 32 bytes and the data. Pure.
 *
 *   magic "SLJ1" · length u32 · CRC-32 u32 · group u32 · number u64 · time f64 · data
 *
 * The checksum covers all that comes after it, and the length. `group` is where in the file the write began that brought
 * the record: a group is on disk before the next one is begun, so a whole record of a later group proves that everything
 * before that group had been whole once.
 */
import { crc32 } from "node:zlib";

export const HEADER_BYTES = 32;
const MAGIC = Buffer.from("SLJ1");
const AT = { length: 4, checksum: 8, group: 12, number: 16, time: 24 } as const;

export interface Frame {
  readonly offset: number;
  readonly end: number;
  readonly group: number;
  /** Counted from 1, over the life of the journal. */
  readonly number: number;
  readonly atMs: number;
  readonly data: Buffer;
}

export interface NewRecord {
  readonly number: number;
  readonly atMs: number;
  readonly data: Uint8Array;
}

export const frameBytes = (data: Uint8Array): number => HEADER_BYTES + data.length;

/** The records of one write, which begins at `group`. */
export function encodeGroup(records: readonly NewRecord[], group: number): Buffer {
  return Buffer.concat(records.flatMap((record) => [encodeHeader(record, group), record.data]));
}

function encodeHeader({ number, atMs, data }: NewRecord, group: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32BE(data.length, AT.length);
  header.writeUInt32BE(group, AT.group);
  header.writeBigUInt64BE(BigInt(number), AT.number);
  header.writeDoubleBE(atMs, AT.time);
  header.writeUInt32BE(checksum(header, data), AT.checksum);
  return header;
}

function checksum(header: Buffer, data: Uint8Array): number {
  const length = crc32(header.subarray(AT.length, AT.checksum));
  return crc32(data, crc32(header.subarray(AT.group, HEADER_BYTES), length));
}

/** The record that begins there; null when there is no whole one. */
export function decodeFrame(bytes: Buffer, offset: number): Frame | null {
  if (offset + HEADER_BYTES > bytes.length) return null;
  const header = bytes.subarray(offset, offset + HEADER_BYTES);
  if (!header.subarray(0, MAGIC.length).equals(MAGIC)) return null;
  const end = offset + HEADER_BYTES + header.readUInt32BE(AT.length);
  if (end > bytes.length) return null;
  const data = bytes.subarray(offset + HEADER_BYTES, end);
  if (header.readUInt32BE(AT.checksum) !== checksum(header, data)) return null;
  return {
    offset,
    end,
    group: header.readUInt32BE(AT.group),
    number: Number(header.readBigUInt64BE(AT.number)),
    atMs: header.readDoubleBE(AT.time),
    data,
  };
}

/** The first whole record at or after an offset that satisfies a condition; null when there is none. */
export function findFrame(bytes: Buffer, from: number, fits: (frame: Frame) => boolean = () => true): Frame | null {
  for (let offset = bytes.indexOf(MAGIC, from); offset !== -1; offset = bytes.indexOf(MAGIC, offset + 1)) {
    const frame = decodeFrame(bytes, offset);
    if (frame !== null && fits(frame)) return frame;
  }
  return null;
}
