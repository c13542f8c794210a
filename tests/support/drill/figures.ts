/** What a drill counted and how long things took, for people. */
export class Figures {
  readonly #lines = new Map<string, number>();
  readonly #begun = new Map<string, number>();

  count(what: string, value: number): this {
    this.#lines.set(what, value);
    return this;
  }

  of(what: string): number {
    return this.#lines.get(what) ?? 0;
  }

  begin(what: string): void {
    this.#begun.set(what, performance.now());
  }

  /** In seconds since it began, or since the first thing that did. */
  end(what: string): void {
    const first = [...this.#begun.values()][0] ?? 0;
    this.#lines.set(`${what} (s)`, Math.round((performance.now() - (this.#begun.get(what) ?? first)) / 100) / 10);
  }

  print(title: string): void {
    const width = Math.max(...[...this.#lines.keys()].map((what) => what.length));
    const lines = [...this.#lines].map(([what, value]) => `  ${what.padEnd(width)}  ${value}`);
    process.stdout.write([`${title}:`, ...lines, ""].join("\n"));
  }
}
