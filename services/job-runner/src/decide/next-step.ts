/** What becomes of a job whose run has ended. Pure. */
import { codeOfExit, type RunCode } from "@sluice/wire";

export interface RetryRules {
  readonly maxAgeMs: number;
  /** Null: the age alone decides. */
  readonly maxAttempts: number | null;
  readonly delayMs: number;
}

export interface EndedRun {
  readonly exit: number;
  readonly ageMs: number;
  /** With this one. */
  readonly attempts: number;
  /** No further runs, whatever its schedule says. */
  readonly forGood?: boolean;
  /** It has its next time anyway, and would lose its schedule. */
  readonly repeats: boolean;
}

export type NextStep =
  | { readonly kind: "finish"; readonly code: RunCode }
  | { readonly kind: "retry"; readonly code: RunCode; readonly delaySeconds: number }
  /** No further runs: it is kept, with its reason. */
  | { readonly kind: "end"; readonly code: RunCode }
  | { readonly kind: "abandon"; readonly code: RunCode; readonly why: string };

export function nextStep({ exit, ageMs, attempts, repeats, forGood }: EndedRun, rules: RetryRules): NextStep {
  const code = codeOfExit(exit);
  if (forGood === true) return { kind: "end", code };
  if (code === "ok" || code === "failed") return { kind: "finish", code };
  const delaySeconds = Math.ceil(rules.delayMs / 1_000);
  if (repeats) return { kind: "retry", code, delaySeconds };
  if (rules.maxAttempts !== null && attempts >= rules.maxAttempts)
    return { kind: "abandon", code, why: `abandoned after ${attempts} attempts` };
  // The one that would come too late is not waited for.
  if (ageMs + rules.delayMs > rules.maxAgeMs)
    return { kind: "abandon", code, why: `abandoned at the age of ${Math.round(ageMs / 1_000)} s` };
  return { kind: "retry", code, delaySeconds };
}
