/** A batch's own trace: from its submission over its expansion to its mail. Its jobs have traces of their own. */
import type { Actor, Batch, JobSpec } from "@sluice/queue-core";
import { currentTrace, jobTraceparent, parseTraceparent, startSpan, traced } from "@sluice/tracing";
import type { ItemResult } from "./item-loop.ts";

export function tracedBatch(actor: Actor, batch: Batch, work: () => Promise<ItemResult>): Promise<ItemResult> {
  return traced(
    {
      name: `process ${actor.stage} batch`,
      kind: "consumer",
      parent: parseTraceparent(batch.submission.traceparent),
      attributes: {
        "messaging.system": "zookeeper",
        "messaging.operation.type": "process",
        "messaging.destination.name": actor.stage,
        "messaging.message.id": batch.id,
        "sluice.state": batch.state,
        "sluice.attempt": batch.attempt,
      },
    },
    async (span) => {
      const result = await work();
      span.set({ "sluice.outcome": result.outcome });
      return result;
    },
  );
}

/** By the row that a job comes from: an expansion that goes on after a crash gives it the same trace. */
export function withTraces({ submission, expansion }: Batch, specs: readonly JobSpec[]): readonly JobSpec[] {
  const { traceparent: batch } = submission;
  const made = expansion?.created ?? 0;
  return specs.map((spec, i) => {
    const traceparent = batch === undefined ? null : jobTraceparent(batch, made + i);
    return traceparent === null ? spec : { ...spec, configuration: { ...spec.configuration, traceparent } };
  });
}

/** The first span of each job's trace, linked to the batch's. */
export function traceJobsMade(batch: Batch, specs: readonly JobSpec[]): void {
  const batchTrace = currentTrace();
  for (const { configuration } of specs) {
    const ids = parseTraceparent(configuration.traceparent);
    if (ids === null) continue;
    const { span } = startSpan({
      name: "create job",
      kind: "producer",
      parent: null,
      ids,
      links: batchTrace === null ? [] : [batchTrace],
      attributes: {
        "messaging.system": "zookeeper",
        "messaging.operation.type": "create",
        "sluice.batch_id": batch.id,
      },
    });
    span.end();
  }
}
