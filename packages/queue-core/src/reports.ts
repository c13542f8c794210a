/** The status-report node. Lists too long for a node go to /fleet/reports in chunks; the node then holds their counts. */
import type { Op } from "@sluice/zookeeper";
import type { QueueContext } from "./context.ts";
import type { BatchId } from "./ids.ts";
import { createOp } from "./job-ops.ts";
import { paths } from "./paths.ts";
import { EMPTY, records, type StatusReport } from "./records.ts";

export const REPORT_IDS_MAX = 3_000;
/** 3,000 ids of 16 bytes: a chunk stays below 64 KB. */
const CHUNK_IDS = 3_000;

/**
 * What to put into the node. Chunks are written first, under this report's number, before anything names them; a
 * reporter that dies here leaves chunks that its successor overwrites with the same words. null = no answer.
 */
export async function storeReport(
  ctx: QueueContext,
  id: BatchId,
  number: number,
  report: StatusReport,
): Promise<StatusReport | null> {
  const { failed_jobs: failed, successful_jobs: successful, last_modified } = report;
  if (failed.length + successful.length <= REPORT_IDS_MAX)
    return { last_modified, failed_jobs: failed, successful_jobs: successful };
  const chunks = [
    ...slices(failed).map((ids) => ({ last_modified, failed_jobs: ids, successful_jobs: [] })),
    ...slices(successful).map((ids) => ({ last_modified, failed_jobs: [], successful_jobs: ids })),
  ];
  const nodes: readonly (readonly [string, Buffer])[] = [
    [paths.batchReports(id), EMPTY],
    [paths.reportChunks(id, number), EMPTY],
    ...chunks.map((chunk, i) => [paths.reportChunk(id, number, i), records.statusReport.encode(chunk)] as const),
  ];
  for (const [path, data] of nodes) if (!(await put(ctx, path, data))) return null;
  const counts = { report: number, failed: failed.length, successful: successful.length };
  return { last_modified, failed_jobs: [], successful_jobs: [], counts };
}

function slices(ids: readonly string[]): string[][] {
  const out: string[][] = [];
  for (let i = 0; i < ids.length; i += CHUNK_IDS) out.push(ids.slice(i, i + CHUNK_IDS));
  return out;
}

async function put(ctx: QueueContext, path: string, data: Buffer): Promise<boolean> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const there = await ctx.session.get(path);
    if (there.ok && there.value.data.equals(data)) return true;
    const op: Op = there.ok ? { op: "set", path, data, version: there.value.stat.version } : createOp(path, data);
    const answer = await ctx.committer.submit({ rank: "commit", ops: [op] });
    if (answer.ok) return true;
    if (!(await ctx.session.untilConnected())) return false;
  }
  return false;
}

/** The whole report again, lists included. */
export async function readReport(
  ctx: Pick<QueueContext, "session">,
  id: BatchId,
  report: StatusReport,
): Promise<StatusReport | null> {
  if (report.counts === undefined) return report;
  const names = await ctx.session.children(paths.reportChunks(id, report.counts.report));
  if (!names.ok) return null;
  const whole = { last_modified: report.last_modified, failed_jobs: [] as string[], successful_jobs: [] as string[] };
  for (const name of [...names.value.names].sort()) {
    const node = await ctx.session.get(paths.reportChunk(id, report.counts.report, Number(name)));
    const chunk = node.ok ? records.statusReport.decode(node.value.data) : null;
    if (chunk?.ok !== true) return null;
    for (const each of chunk.value.failed_jobs) whole.failed_jobs.push(each);
    for (const each of chunk.value.successful_jobs) whole.successful_jobs.push(each);
  }
  return whole;
}
