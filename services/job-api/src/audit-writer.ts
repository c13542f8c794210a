/** Orders of people for the general queue, in the audit of the fleet: before they are carried out, by whichever job-api. */
import type { WriteAudit } from "@sluice/job-doors";
import { act, type Operator, type QueueContext } from "@sluice/queue-core";
import type { ServiceParts } from "@sluice/stage-runtime";
import { setTimeout as pause } from "node:timers/promises";

type Parts = Pick<ServiceParts, "queue" | "log" | "clock">;

/** As long as requests wait for an owner. */
const PATIENCE_MS = 5_000;
const LOOK_AGAIN_MS = 50;

export const auditWriter =
  (parts: Parts): WriteAudit =>
  async ({ caller, requestId, action, target, reason }) => {
    const context = await openTree(parts);
    if (context === null) return false;
    const operator: Operator = { name: caller.name, caller: caller.id, reason };
    const { kind } = await act(context, operator, action, target, () => Promise.resolve({ kind: "go", ops: [] }));
    const facts = { actor: caller.name, caller: caller.id, action, target, request_id: requestId, result: kind };
    parts.log.info(facts, "an operator's change");
    return kind === "applied";
  };

/** A job-api serves before its session is open. Null: it does not come. */
async function openTree({ queue, clock }: Parts): Promise<QueueContext | null> {
  const deadline = clock.monotonicMs() + PATIENCE_MS;
  for (;;) {
    const open = queue();
    if (open !== null) return open.context;
    if (clock.monotonicMs() >= deadline) return null;
    await pause(LOOK_AGAIN_MS);
  }
}
