import { type GateResult, openReport, parseBatchId, paths } from "@sluice/queue-core";
import { consumed, type Inbox, type InboxOutcome, snooze } from "@sluice/stage-runtime";

/** A batch whose jobs are not all made yet is due too early; whoever ends its last job finds the notice there already. */
const LOOK_AGAIN_MS = 2_000;

/** Batches whose last job ended: opens the gate to Reporting. The gate is one atomic move, so no lock is needed. */
export const dueInbox: Inbox = {
  kind: "inbox",
  name: "due-batches",
  path: paths.dueBatches,
  exclusive: false,
  async handle(item, ctx) {
    const id = parseBatchId(item.name);
    if (id === null) return consumed;
    const gate = await openReport(ctx.queue, id);
    if (gate.kind === "opened") ctx.log.info("every job has ended: the batch is to be reported");
    return outcomeOf(gate);
  },
};

function outcomeOf(gate: GateResult): InboxOutcome {
  switch (gate.kind) {
    case "opened":
    case "not-due":
      return consumed;
    case "shut":
      return snooze(LOOK_AGAIN_MS, gate.why);
    case "lost":
      return snooze(LOOK_AGAIN_MS, "no answer");
  }
}
