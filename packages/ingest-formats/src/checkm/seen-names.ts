import { hash } from "node:crypto";

/**
 * Finds repeated names in a manifest of any length. Digests are kept instead of names: 32 bytes each, and no name keeps
 * the chunk alive that it was cut from (a million rows must fit in memory).
 */
export class SeenNames {
  readonly #seen = new Set<string>();

  /** False if the name was there before. */
  add(name: string): boolean {
    const key = hash("sha256", name, "binary");
    const before = this.#seen.size;
    this.#seen.add(key);
    return this.#seen.size > before;
  }
}
