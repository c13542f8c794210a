/** A directory's names in order, list after list: what was there before is neither read nor sorted again. */
export class SortedNames<T> {
  readonly #read: (name: string) => T | null;
  #known = new Map<string, T | null>();
  #sorted: readonly string[] = [];
  #items: readonly T[] = [];

  /** `read`: null for a name that is none of ours. */
  constructor(read: (name: string) => T | null) {
    this.#read = read;
  }

  /** The directory as it was listed just now; the same array as before where nothing has changed. */
  update(names: readonly string[]): readonly T[] {
    const fresh = names.filter((name) => !this.#known.has(name));
    if (fresh.length === 0 && names.length === this.#known.size) return this.#items;
    for (const name of fresh) this.#known.set(name, this.#read(name));
    if (names.length < this.#known.size) this.#forgetAllBut(new Set(names));
    this.#sorted = merged(
      this.#sorted.filter((name) => this.#known.has(name)),
      fresh.sort(),
    );
    this.#items = this.#sorted.flatMap((name) => this.#known.get(name) ?? []);
    return this.#items;
  }

  #forgetAllBut(present: ReadonlySet<string>): void {
    for (const name of this.#known.keys()) if (!present.has(name)) this.#known.delete(name);
  }
}

function merged(a: readonly string[], b: readonly string[]): readonly string[] {
  if (b.length === 0) return a;
  const all: string[] = [];
  let next = 0;
  for (const name of a) {
    for (let other = b[next]; other !== undefined && other < name; other = b[next]) {
      all.push(other);
      next += 1;
    }
    all.push(name);
  }
  for (const rest of b.slice(next)) all.push(rest);
  return all;
}
