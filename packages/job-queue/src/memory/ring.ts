/** Types in the order of their turns: those of the highest priority first, among them whoever had its turn last comes last. */
export class Ring<T> {
  readonly #byPriority = new Map<number, Map<string, T>>();

  /** Keeps its place if it has one at this priority. */
  set(priority: number, name: string, value: T): void {
    const names = this.#byPriority.get(priority);
    if (names === undefined) this.#byPriority.set(priority, new Map([[name, value]]));
    else names.set(name, value);
  }

  remove(priority: number, name: string): void {
    const names = this.#byPriority.get(priority);
    names?.delete(name);
    if (names?.size === 0) this.#byPriority.delete(priority);
  }

  /** As far as somebody reads. */
  *all(): Iterable<T> {
    const priorities = [...this.#byPriority.keys()].sort((a, b) => b - a);
    for (const priority of priorities) yield* this.#byPriority.get(priority)?.values() ?? [];
  }
}
