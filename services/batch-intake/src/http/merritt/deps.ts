/** What Merritt's requests are answered from. */
import type { Profile } from "@sluice/ingest-formats";
import type { ActionResult, Holds, HoldTarget, Operator } from "@sluice/queue-core";

export interface MerrittPorts {
  readonly startedAtMs: number;
  readonly fleet: () => string | null;
  /** As of a second ago at most, however many ask; null: no answer. */
  readonly holds: () => Promise<Pick<Holds, "queuePaused" | "collections"> | null>;
  readonly setHold: (operator: Operator, target: HoldTarget) => Promise<ActionResult>;
  readonly releaseHold: (operator: Operator, target: HoldTarget) => Promise<ActionResult>;
  readonly profiles: () => readonly Profile[];
}
