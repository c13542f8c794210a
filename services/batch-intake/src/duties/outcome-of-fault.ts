import type { ErrorCode } from "@sluice/queue-core";
import { retry, type Retry, snooze, type Snooze } from "@sluice/stage-runtime";
import type { PayloadFault } from "../ports.ts";

/** How long to stay away from a volume that is full. */
const FULL_MS = 60_000;

type FaultOutcome = Retry | Snooze | { readonly kind: "fail"; readonly code: ErrorCode; readonly message: string };

export function outcomeOfFault({ code, message, remedy, retryAfterMs }: PayloadFault): FaultOutcome {
  switch (remedy) {
    case "none":
      return { kind: "fail", code, message };
    case "retry":
      return retry(code, message, retryAfterMs);
    case "wait":
      return snooze(FULL_MS, message);
  }
}
