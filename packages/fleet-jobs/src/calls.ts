/** Answers of our services, as what they mean for a job. */
import type { Answer } from "@sluice/client";
import { EXIT, type FleetOutcome, outcome } from "./handler.ts";

/** Too early, too much at once, or broken over there: the same may be said again later. */
const LATER = new Set([401, 403, 408, 425, 429, 500, 502, 503, 504, 507]);

/** What a call that brought nothing means. A token that is not accepted is the operator's to mend: the job waits for it. */
export function outcomeOf(answer: Extract<Answer<unknown>, { readonly ok: false }>): FleetOutcome {
  if (answer.kind === "unreachable") return outcome(EXIT.notNow, { why: answer.why });
  const { status, code, detail } = answer.refusal;
  return outcome(LATER.has(status) ? EXIT.notNow : EXIT.refused, { why: detail, code, status });
}

export const NOT_CONFIGURED = (what: string, setting: string): FleetOutcome =>
  outcome(EXIT.notNow, { why: `${what} is not configured: set ${setting}` });
