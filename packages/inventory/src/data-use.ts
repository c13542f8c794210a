/** What a data use agreement asks of those who want the object. The strictest stands first. */
export const OBLIGATIONS = ["required", "optional", "none"] as const;
export type Obligation = (typeof OBLIGATIONS)[number];

/** How far one acceptance reaches. */
export const APPLICABILITIES = ["file", "version", "object", "collection"] as const;
export type Applicability = (typeof APPLICABILITIES)[number];

/** How long one acceptance lasts. */
export const PERSISTENCES = ["request", "session", "permanent"] as const;
export type Persistence = (typeof PERSISTENCES)[number];

export interface DataUseAgreement {
  readonly identifier: string | null;
  readonly title: string;
  readonly terms: string;
  /** The text that is shown, from mrt-dua-template.xml. */
  readonly template: string | null;
  readonly accept: Obligation;
  readonly name: Obligation;
  readonly affiliation: Obligation;
  readonly email: Obligation;
  readonly applicability: Applicability;
  readonly persistence: Persistence;
  /** Who is told; may be empty. */
  readonly notification: string;
}
