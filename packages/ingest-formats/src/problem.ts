/**
 * What is wrong with a text that somebody sent us, precise enough to be corrected without asking back.
 * `line` counts from 1; `column` is the name of the column, key or element; `expected` says what would be right.
 */
export interface FormatProblem {
  readonly code: string;
  readonly message: string;
  readonly line?: number;
  /** Data row of a manifest, from 1, headers not counted. */
  readonly row?: number;
  readonly column?: string;
  readonly expected?: string;
}

export interface ParseOk<T> {
  readonly ok: true;
  readonly value: T;
}

export interface ParseFailure {
  readonly ok: false;
  /** Never empty. */
  readonly problems: readonly FormatProblem[];
}

export type Parsed<T> = ParseOk<T> | ParseFailure;

export const parsed = <T>(value: T): ParseOk<T> => ({ ok: true, value });

export const refused = (...problems: readonly FormatProblem[]): ParseFailure => ({ ok: false, problems });

/** One line for a log, a mail or a problem document. */
export function describeProblem(problem: FormatProblem): string {
  const place = [
    problem.line === undefined ? "" : `line ${problem.line}`,
    problem.row === undefined ? "" : `row ${problem.row}`,
    problem.column ?? "",
  ].filter((part) => part !== "");
  const expected = problem.expected === undefined ? "" : ` (expected ${problem.expected})`;
  return `${place.length === 0 ? "" : `${place.join(", ")}: `}${problem.message}${expected}`;
}
