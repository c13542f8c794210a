/**
 * The number that the record at the head of the journal got, written down before its uploads move there. Records are
 * ingested one after the other, so there is only one.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@sluice/journal";
import { type BatchId, FIRST_EPOCH, parseBatchId } from "@sluice/queue-core";
import { z } from "zod";
import { parseJson } from "./entry.ts";

const NAME = "in-hand.json";
const Note = z.object({
  number: z.number().int(),
  batch: z.string(),
  epoch: z.number().int().default(FIRST_EPOCH),
  fleet: z.string(),
});

export interface NumberNote {
  /** Of the record. */
  readonly number: number;
  readonly batch: BatchId;
  readonly epoch: number;
  /** The tree in which the number was reserved. */
  readonly fleet: string;
}

export class InHand {
  readonly #folder: string;
  #note: NumberNote | null;

  private constructor(folder: string, note: NumberNote | null) {
    this.#folder = folder;
    this.#note = note;
  }

  static async open(folder: string): Promise<InHand> {
    const text = await readFile(join(folder, NAME)).catch(() => Buffer.alloc(0));
    const note = Note.safeParse(parseJson(text));
    const batch = note.success ? parseBatchId(note.data.batch) : null;
    return new InHand(folder, note.success && batch !== null ? { ...note.data, batch } : null);
  }

  of(number: number): NumberNote | null {
    return this.#note?.number === number ? this.#note : null;
  }

  /** On disk when it returns. */
  async set(note: NumberNote): Promise<void> {
    await replaceFile(this.#folder, NAME, JSON.stringify(note));
    this.#note = note;
  }
}
