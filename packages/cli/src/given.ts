/** The words of a command line, after the parser has checked them against the command's table. */
export class Given {
  readonly #values: ReadonlyMap<string, readonly string[]>;

  /** A switch that is on has an empty list. */
  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }
  text(name: string): string | undefined {
    return this.#values.get(name)?.[0];
  }
  texts(name: string): readonly string[] {
    return this.#values.get(name) ?? [];
  }
  number(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : Number(text);
  }
  seconds(name: string): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : (parseSeconds(text) ?? undefined);
  }
}

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 };

/** `90`, `90s`, `15m`, `2h`, `1d12h`. */
export function parseSeconds(text: string): number | null {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  if (!/^(?:\d{1,6}[smhdw])+$/.test(text)) return null;
  return [...text.matchAll(/(\d{1,6})([smhdw])/g)].reduce(
    (sum, [, n, unit]) => sum + Number(n) * (UNITS[unit ?? ""] ?? 0),
    0,
  );
}

/** A moment: RFC 3339, or a span from now (`2h`). */
export function parseMoment(text: string, nowMs: number): string | null {
  const span = parseSeconds(text);
  if (span !== null) return new Date(nowMs + span * 1_000).toISOString();
  if (!/^\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d)?)?$/.test(text)) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}
