/** Why a run stopped, in the serverless document's words: RETRY=1xx, OK=2xx, FAILED=4xx, ERROR=5xx. */
import { z } from "zod";

export const RUN_CODES = ["retry", "ok", "failed", "error"] as const;
export const RunCode = z.enum(RUN_CODES);
export type RunCode = z.infer<typeof RunCode>;

/** What is no exit code of the document was not to be expected, and is an error. */
export function codeOfExit(exit: number): RunCode {
  switch (Math.floor(exit / 100)) {
    case 1:
      return "retry";
    case 2:
      return "ok";
    case 4:
      return "failed";
    default:
      return "error";
  }
}

const OF_OUTCOME: Readonly<Record<"finished" | "failed" | "retried", RunCode>> = {
  finished: "ok",
  failed: "failed",
  retried: "retry",
};

/** A run that ended without an exit code stopped for the reason that its command says. */
export const codeOfRun = (exit: number | null, outcome: keyof typeof OF_OUTCOME): RunCode =>
  exit === null ? OF_OUTCOME[outcome] : codeOfExit(exit);
