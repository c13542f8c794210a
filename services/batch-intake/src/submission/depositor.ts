import { ANYBODY, type Caller, type Scope } from "@sluice/access";

/** Whoever submits, as far as a submission is concerned. */
export interface Depositor {
  /** Their idempotency keys are their own. */
  readonly id: string;
  /** The submitter, when the request names none. */
  readonly name: string;
  readonly scope: Scope;
  /** Written down beside the submitter; null: nobody was asked who they are. */
  readonly signature: string | null;
}

export const ANONYMOUS = "anonymous";

export function depositorOf({ id, name, scope }: Caller): Depositor {
  if (id === ANYBODY.id) return { id: ANONYMOUS, name: ANONYMOUS, scope, signature: null };
  return { id, name, scope, signature: name };
}
