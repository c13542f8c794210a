/** Sweeps that go on in this process long after they were told to stop: another process does them meanwhile. */
export class HungSweeps {
  readonly #names = new Set<string>();
  readonly #listeners = new Set<() => void>();

  list(): readonly string[] {
    return [...this.#names].sort();
  }

  add(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    this.#changed();
  }

  remove(name: string): void {
    if (this.#names.delete(name)) this.#changed();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
