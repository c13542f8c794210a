import { type JobContext, snooze } from "@sluice/stage-runtime";
import type { ProcessorParts } from "../parts.ts";
import { ended } from "./step.ts";

/** However long it lasts, it is not the job's fault: the job sleeps, says why, and no attempt is counted. */
export function inventoryAway({ log }: JobContext, parts: ProcessorParts, message: string) {
  log.warn({ why: message }, "the inventory cannot be asked for identifiers");
  parts.onInventoryAway();
  return ended(snooze(parts.inventoryAwayWaitMs, `the inventory cannot be asked for identifiers: ${message}`));
}
