/** Numbers for the rows of batches: many at a time, so that the cursor of a long batch has few steps. */
import type { IdBlocks } from "./id-blocks.ts";
import type { BatchId, JobId } from "./ids.ts";
import type { Expansion } from "./records.ts";

/** What a process that dies leaves unused is a gap, which harms nobody. */
const NUMBERS_AHEAD = 10_000;

export class RowNumbering {
  readonly #ids: IdBlocks;
  readonly #ahead = new Map<BatchId, { readonly created: number; readonly spare: readonly JobId[] }>();

  constructor(ids: IdBlocks) {
    this.#ids = ids;
  }

  /** Null: no answer. What was taken ahead counts only while nobody else has gone on with the batch. */
  async take(batch: BatchId, { rows, created }: Expansion, count: number): Promise<readonly JobId[] | null> {
    const known = this.#ahead.get(batch);
    this.#ahead.delete(batch);
    const spare = known?.created === created ? known.spare : [];
    const wanted = Math.max(count, Math.min(rows - created, NUMBERS_AHEAD));
    const numbers = spare.length >= count ? spare : await this.#ids.nextJobs(wanted);
    if (numbers === null) return null;
    const rest = numbers.slice(count);
    if (rest.length > 0) this.#ahead.set(batch, { created: created + count, spare: rest });
    return numbers.slice(0, count);
  }

  drop(batch: BatchId): void {
    this.#ahead.delete(batch);
  }
}
