import type { IoFault } from "@sluice/safe-io";
import { fail, type Outcome, retry, snooze } from "@sluice/stage-runtime";

/** A step's result, or how the job ends because of it. */
export type Step<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly outcome: Outcome };

export const went = <T>(value: T): Step<T> => ({ ok: true, value });
export const ended = (outcome: Outcome): { readonly ok: false; readonly outcome: Outcome } => ({ ok: false, outcome });

/** What trouble with the working folder means for the job. */
export function diskTrouble(fault: IoFault, diskFullWaitMs: number): { readonly ok: false; readonly outcome: Outcome } {
  if (fault.code === "NO_SPACE") return ended(snooze(diskFullWaitMs, `the working volume is full: ${fault.message}`));
  if (fault.code === "NOT_FOUND" || fault.code === "LINK_REFUSED") return ended(fail("FILES_MISSING", fault.message));
  return ended(retry("UNEXPECTED", `the working folder: ${fault.message}`));
}
