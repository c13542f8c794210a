/**
 * How far the journal has been consumed: one number in two places of a file, written in turn. Whichever write is torn,
 * the other place still holds the number before it.
 */
import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { hasCode } from "./error.ts";
import { openFile, replaceFile, writeAll } from "./folder.ts";

const NAME = "consumed";
const SLOT_BYTES = 12;
/** Apart by more than a disk writes at once. */
const SLOT_DISTANCE = 4096;

export class Position {
  readonly #handle: FileHandle;
  #slot: number;
  #number: number;

  private constructor(handle: FileHandle, number: number, slot: number) {
    this.#handle = handle;
    this.#number = number;
    this.#slot = slot;
  }

  /** Rejects when the file is there and neither place can be read: what was consumed is then not known. */
  static async open(folder: string): Promise<Position> {
    const handle = await openFile(folder, NAME).catch(async (error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
      await replaceFile(folder, NAME, Buffer.concat([encodeSlot(0), Buffer.alloc(SLOT_DISTANCE)]));
      return openFile(folder, NAME);
    });
    const places = await Promise.all([readSlot(handle, 0), readSlot(handle, 1)]);
    const number = places.reduce<number>((most, place) => Math.max(most, place ?? -1), -1);
    if (number >= 0) return new Position(handle, number, places.indexOf(number));
    await handle.close();
    throw new Error(
      `${join(folder, NAME)} cannot be read: what has been consumed is not known. Remove it to begin with the oldest record.`,
    );
  }

  get number(): number {
    return this.#number;
  }

  /** On disk when it returns. */
  async set(number: number): Promise<void> {
    const slot = 1 - this.#slot;
    await writeAll(this.#handle, encodeSlot(number), slot * SLOT_DISTANCE);
    await this.#handle.datasync();
    this.#slot = slot;
    this.#number = number;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

function encodeSlot(number: number): Buffer {
  const slot = Buffer.alloc(SLOT_BYTES);
  slot.writeBigUInt64BE(BigInt(number), 0);
  slot.writeUInt32BE(checksum(slot), 8);
  return slot;
}

/** Nothing but zeros must not read as a number. */
const checksum = (slot: Buffer): number => crc32(slot.subarray(0, 8), 1);

async function readSlot(handle: FileHandle, slot: number): Promise<number | null> {
  const bytes = Buffer.alloc(SLOT_BYTES);
  const { bytesRead } = await handle.read(bytes, 0, SLOT_BYTES, slot * SLOT_DISTANCE);
  const whole = bytesRead === SLOT_BYTES && bytes.readUInt32BE(8) === checksum(bytes);
  return whole ? Number(bytes.readBigUInt64BE(0)) : null;
}
