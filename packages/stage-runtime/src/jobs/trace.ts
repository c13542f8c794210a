/** A job's attempts as spans of its one trace, each linked to the attempt before it, wherever that one ran. */
import type { Actor, LoadedJob } from "@sluice/queue-core";
import { type ActiveSpan, attemptContext, parseTraceparent, traced } from "@sluice/tracing";
import type { Settlement } from "./settlement.ts";

export function tracedAttempt(
  actor: Actor,
  { job, lease }: LoadedJob,
  work: (span: ActiveSpan) => Promise<void>,
): Promise<void> {
  // Jobs of other writers may have none: their attempts stand alone.
  const trace = parseTraceparent(job.configuration.traceparent);
  const { lastToken } = lease;
  const { epoch } = job.claim;
  return traced(
    {
      name: `process ${actor.stage}`,
      kind: "consumer",
      parent: trace,
      ...(trace === null ? {} : { ids: attemptContext(trace, job.claim) }),
      links: trace === null || lastToken === null ? [] : [attemptContext(trace, { epoch, token: lastToken })],
      attributes: {
        "messaging.system": "zookeeper",
        "messaging.operation.type": "process",
        "messaging.destination.name": actor.stage,
        "messaging.message.id": job.id,
        "sluice.batch_id": job.batchId,
        "sluice.state": job.state,
        "sluice.attempt": job.attempt,
        "sluice.waited_ms": Math.round(lease.waitedMs),
      },
    },
    work,
  );
}

export function traceSettled(span: ActiveSpan, { as, to }: Settlement, why: string): void {
  span.set({
    "sluice.outcome": as,
    ...(to === null ? {} : { "sluice.to": to }),
    ...(why === "" ? {} : { "sluice.why": why }),
  });
  if (as === "retry" || as === "fail" || as === "quarantine" || as === "lost") span.failed(why === "" ? as : why);
}
