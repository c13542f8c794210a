/** What the OCFL 1.1 specification calls it, and where. Written from its validation codes; shares nothing with the writer. */
export interface Finding {
  readonly code: string;
  readonly what: string;
}

export class Findings {
  readonly list: Finding[] = [];

  add(code: string, what: string): void {
    this.list.push({ code, what });
  }

  unless(condition: boolean, code: string, what: string): void {
    if (!condition) this.add(code, what);
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const isPathList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === "string");
