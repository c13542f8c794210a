/** Submissions that were answered for and can never become a batch: kept one by one, for people to look at. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, replaceFile } from "@sluice/journal";
import type { BatchUuid, Submission } from "@sluice/queue-core";
import { z } from "zod";
import { parseJson } from "./entry.ts";

const Refusal = z.object({
  /** null = the record itself could not be read; it is in `record`, in base64. */
  uuid: z.string().nullable(),
  number: z.number().int(),
  refused_at: z.string(),
  why: z.string(),
  submission: z.record(z.string(), z.unknown()).nullable(),
  /** Of its uploads, below the working folder. */
  files: z.string().nullable(),
  record: z.string().optional(),
});
export type Refusal = Readonly<Omit<z.infer<typeof Refusal>, "submission">> & {
  readonly submission: Submission | Readonly<Record<string, unknown>> | null;
};

export class RefusedArea {
  readonly #folder: string;
  readonly #all: Map<number, Refusal>;

  private constructor(folder: string, all: readonly Refusal[]) {
    this.#folder = folder;
    this.#all = new Map(all.map((refusal) => [refusal.number, refusal]));
  }

  static async open(folder: string): Promise<RefusedArea> {
    await makeFolder(folder);
    const names = (await readdir(folder)).filter((name) => name.endsWith(".json"));
    const read = await Promise.all(
      names.map(async (name) => Refusal.safeParse(parseJson(await readFile(join(folder, name))))),
    );
    return new RefusedArea(
      folder,
      read.flatMap((refusal) => (refusal.success ? [refusal.data] : [])),
    );
  }

  get size(): number {
    return this.#all.size;
  }

  /** On disk when it returns. */
  async add(refusal: Refusal): Promise<void> {
    await replaceFile(this.#folder, `${refusal.number}.json`, `${JSON.stringify(refusal, null, 2)}\n`);
    this.#all.set(refusal.number, refusal);
  }

  /** The refusal of a record whose settling was cut off. */
  of(number: number): Refusal | null {
    return this.#all.get(number) ?? null;
  }

  under(uuid: BatchUuid): readonly Refusal[] {
    return [...this.#all.values()].filter((refusal) => refusal.uuid === uuid);
  }
}
