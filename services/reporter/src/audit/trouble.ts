/** Why the audit in the tree was not shortened this time. */
import type { Found, Refused, Unavailable } from "@sluice/inventory";

export const AUDIT_OUTCOMES = [
  "done",
  /** There is something to remove, and no key to sign with. */
  "no-key",
  /** A record does not follow the one before it. */
  "broken-chain",
  /** The archive lacks records that the tree has no more. */
  "gap",
  /** The archive does not answer, or refuses. */
  "archive",
  /** ZooKeeper refuses the removal. */
  "refused",
  "silence",
] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export interface AuditTrouble {
  readonly outcome: Exclude<AuditOutcome, "done">;
  /** For people. */
  readonly why: string;
}

export const trouble = (outcome: AuditTrouble["outcome"], why: string): AuditTrouble => ({ outcome, why });

export const away = (answer: Refused | Unavailable | Extract<Found<never>, { readonly kind: "none" }>): AuditTrouble =>
  trouble("archive", answer.kind === "none" ? "the archive is empty" : answer.message);
