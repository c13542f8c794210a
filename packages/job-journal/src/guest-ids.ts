/**
 * Ids that were reserved for this journal, in a file beside it: jobs are numbered without asking anybody, also after a
 * restart. Ids are used in increasing order, each once: before one is given, it is written down that it may have been, some
 * ahead so that this is rare. A process that dies loses those ahead.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@sluice/journal";
import { z } from "zod";

const NAME = "ids.json";
const AHEAD = 250;

const IdsFile = z.strictObject({
  /** Every id up to this one may have been given. */
  used: z.number().int().min(0),
  /** First and last of each, in increasing order. */
  blocks: z.array(z.tuple([z.number().int().min(1), z.number().int().min(1)])),
});
type Block = z.infer<typeof IdsFile>["blocks"][number];

export class GuestIds {
  readonly #folder: string;
  /** What is left, in increasing order. */
  #blocks: readonly Block[];
  /** As it stands in the file. */
  #used: number;
  #given: number;

  private constructor(folder: string, used: number, blocks: readonly Block[]) {
    this.#folder = folder;
    this.#used = used;
    this.#given = used;
    this.#blocks = blocks;
  }

  /** `floor`: the highest id that is known to have been used. Rejects when the file is there and cannot be read. */
  static async open(folder: string, floor: number): Promise<GuestIds> {
    const text = await readFile(join(folder, NAME), "utf8").catch((error: unknown) => {
      if (typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT") return null;
      throw error;
    });
    const { used, blocks } = text === null ? { used: 0, blocks: [] } : IdsFile.parse(JSON.parse(text));
    return new GuestIds(folder, Math.max(used, floor), blocks);
  }

  get left(): number {
    return this.#blocks.reduce((sum, [first, last]) => sum + Math.max(0, last - Math.max(first - 1, this.#given)), 0);
  }

  /** Null: there are not that many. One call at a time. */
  async take(count: number): Promise<readonly number[] | null> {
    const ids = this.#next(count);
    const last = ids.at(-1);
    if (ids.length < count || last === undefined) return null;
    if (last > this.#used) await this.#write(this.#ahead(last), this.#blocks);
    this.#given = last;
    return ids;
  }

  /** On disk when it returns. One that is not above all others could have been used before: it is left alone. */
  async add(first: number, last: number): Promise<void> {
    const highest = Math.max(this.#used, this.#blocks.at(-1)?.[1] ?? 0);
    if (first <= highest) return;
    await this.#write(this.#used, [...this.#blocks, [first, last]]);
  }

  #next(count: number): readonly number[] {
    const ids: number[] = [];
    for (const [first, last] of this.#blocks)
      for (let id = Math.max(first, this.#given + 1); id <= last && ids.length < count; id++) ids.push(id);
    return ids;
  }

  /** Some more, in the block of this one. */
  #ahead(id: number): number {
    const block = this.#blocks.find(([first, last]) => first <= id && id <= last);
    return Math.min(id + AHEAD, block?.[1] ?? id);
  }

  async #write(used: number, blocks: readonly Block[]): Promise<void> {
    const left = blocks.filter(([, last]) => last > used || last > this.#given);
    await replaceFile(this.#folder, NAME, JSON.stringify({ used, blocks: left }));
    this.#used = used;
    this.#blocks = left;
  }
}
