/** What is wrong with one field of a submission, so that the depositor can mend it without asking back. */
export interface FieldProblem {
  /** The field as the caller named it. */
  readonly field: string;
  readonly detail: string;
}

export type Checked<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problems: readonly FieldProblem[] };

/** Stands for all fields together. */
export const WHOLE = "";
