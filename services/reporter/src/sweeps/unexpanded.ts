import {
  type BatchId,
  type BatchView,
  formatTimestamp,
  paths,
  type QueueContext,
  readBatch,
  records,
} from "@sluice/queue-core";
import type { Sweep, SweepContext } from "@sluice/stage-runtime";
import { type PostmanParts, tell } from "../postman.ts";
import { chunked, listBatches } from "./list-batches.ts";

const BATCHES_PER_READ = 200;

/** The report of a batch that never became jobs has no number of its own to count: it is the only one. */
const REPORT_NUMBER = 0;

/** A batch whose payload could not be expanded fails without passing Reporting: one mail says so. */
export const unexpandedSweep = (parts: PostmanParts, everyMs: number): Sweep => ({
  kind: "sweep",
  name: "unexpanded-batches",
  everyMs,
  async run(ctx) {
    const failed = (await listBatches(ctx.queue.session, "Failed")) ?? [];
    for (const ids of chunked(failed, BATCHES_PER_READ)) {
      for (const id of await withoutJobs(ctx.queue, ids)) {
        if (ctx.signal.aborted) return;
        await reportUnexpanded(id, ctx, parts);
      }
    }
  },
});

async function withoutJobs(queue: QueueContext, ids: readonly BatchId[]): Promise<readonly BatchId[]> {
  const answers = await queue.session.readMany(ids.map((id) => ({ get: paths.expansion(id) })));
  if (!answers.ok) return [];
  return ids.filter((_, i) => {
    const answer = answers.value[i];
    // Whoever fails a batch writes its expansion: one without was never imported, and may well have jobs.
    const expansion = answer?.kind === "node" ? records.expansion.decode(answer.node.data) : null;
    return expansion?.ok === true && expansion.value.created === 0;
  });
}

async function reportUnexpanded(id: BatchId, ctx: SweepContext, parts: PostmanParts): Promise<void> {
  const status = await ctx.queue.session.get(paths.batchStatus(id));
  const batch = await readBatch(ctx.queue.session, id);
  if (!status.ok || batch.kind !== "found" || !isUnreported(batch.value)) return;
  const { submission } = batch.value;
  const news = { kind: "unexpanded", message: batch.value.status.message } as const;
  const waits = await tell(
    { id, submission, number: REPORT_NUMBER, news, status: batch.value.status },
    { ...ctx, log: ctx.log.child({ batch_id: id }) },
    parts,
  );
  if (waits === null) await writeEmptyReport(id, status.value.stat.version, ctx);
}

const isUnreported = ({ status, report }: BatchView): boolean => status.status === "Failed" && report === null;

/** The mark that the depositor was told. Refused if the batch was deleted meanwhile: then nothing is missing. */
const writeEmptyReport = (id: BatchId, statusVersion: number, { queue, clock }: SweepContext) =>
  queue.committer.submit({
    rank: "commit",
    ops: [
      { op: "check", path: paths.batchStatus(id), version: statusVersion },
      {
        op: "create",
        path: paths.batchReport(id),
        data: records.statusReport.encode({
          last_modified: formatTimestamp(clock.nowMs()),
          failed_jobs: [],
          successful_jobs: [],
        }),
      },
    ],
  });
