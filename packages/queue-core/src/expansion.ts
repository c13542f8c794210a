/**
 * From rows to jobs: one multi per chunk, which also moves the cursor in /fleet/expansion/BID. A killed intake is
 * continued by another one at exactly the row the cursor names.
 */
import type { Op } from "@sluice/zookeeper";
import type { Batch, ExpandResult, JobSpec, LoadedBatch } from "./batch.ts";
import { expansionOp } from "./batch-ops.ts";
import { dropOwnBatchLock } from "./batch-store.ts";
import type { Actor, QueueContext } from "./context.ts";
import type { FleetIdentity } from "./fleet-identity.ts";
import { newFleetJob } from "./fleet-job.ts";
import type { IdBlocks } from "./id-blocks.ts";
import type { JobId } from "./ids.ts";
import { createJobOps } from "./job-ops.ts";
import { nameOfRow, withRows } from "./job-rows.ts";
import { clampPriority, paths } from "./paths.ts";
import { type JobPlace, placeOfBatch, printEpoch } from "./places.ts";
import { records } from "./records.ts";
import { RowNumbering } from "./row-numbering.ts";
import { sendFenced } from "./send.ts";
import { JOB_STATES } from "./states.ts";
import { formatTimestamp } from "./timestamp.ts";
import { isLive } from "./transitions.ts";

/** Larger multis stall everyone's writes: 25 jobs cost others a p99 of 7 ms, ten times as many 107 ms. */
export const CHUNK_ROWS = 25;
/** CDL's Java tools cannot list more names than this in one directory; surplus rows wait in the manifest. */
export const QUEUE_ENTRIES_MAX = 50_000;

export interface Expander {
  addJobs(loaded: LoadedBatch, specs: readonly JobSpec[]): Promise<ExpandResult>;
}

export interface ExpanderOptions {
  readonly identity: FleetIdentity;
  /** Where a job's working folder is, for the configuration node. */
  readonly workingDir: (job: JobPlace) => string;
}

const RENUMBERS_MAX = 3;

export function makeExpander(ctx: QueueContext, actor: Actor, ids: IdBlocks, options: ExpanderOptions): Expander {
  const numbers = new RowNumbering(ids);
  return { addJobs: (loaded, specs) => addJobs(ctx, actor, { ids, numbers }, options, loaded, specs) };
}

interface Numbering {
  readonly ids: IdBlocks;
  readonly numbers: RowNumbering;
}

async function addJobs(
  ctx: QueueContext,
  actor: Actor,
  { ids, numbers: numbering }: Numbering,
  options: ExpanderOptions,
  loaded: LoadedBatch,
  specs: readonly JobSpec[],
): Promise<ExpandResult> {
  const { batch, lease, expansionVersion } = loaded;
  if (batch.expansion === null || expansionVersion === null)
    return { kind: "refused", detail: "the batch is not started" };
  const created = batch.expansion.created + specs.length;
  if (created > batch.expansion.rows)
    return { kind: "refused", detail: `more jobs than the ${batch.expansion.rows} rows` };
  for (let attempt = 0; attempt <= RENUMBERS_MAX; attempt++) {
    const numbers = await numbering.take(batch.id, batch.expansion, specs.length);
    if (numbers === null) return { kind: "lost" };
    const op = ctx.newId();
    const first = batch.expansion.created + 1;
    const steps = withRows(batch.expansion.numbers ?? [], first, numbers);
    const expansion = { ...batch.expansion, created, numbers: steps, op };
    const ops: readonly Op[] = [
      { op: "check", path: paths.batchStatus(lease.id), version: lease.token },
      expansionOp(lease.id, expansion, expansionVersion),
      ...specs.flatMap((spec, i) => jobOps(ctx, actor, options, batch, { id: numbers[i], row: first + i }, spec)),
    ];
    const sent = await sendFenced(ctx, { rank: "commit", ops }, () => chunkVerdict(ctx, loaded, op));
    if (sent.kind === "applied") {
      return {
        kind: "added",
        loaded: { ...loaded, batch: { ...batch, expansion }, expansionVersion: expansionVersion + 1 },
      };
    }
    if (sent.kind === "lost") return sent;
    if (sent.kind === "refused" && sent.fault.code === "NODE_EXISTS") {
      numbering.drop(batch.id);
      if (!(await ids.skipTaken())) return { kind: "lost" };
      continue;
    }
    if (sent.kind === "refused" && sent.fault.code !== "BAD_VERSION" && sent.fault.code !== "NO_NODE") {
      return { kind: "refused", detail: `${sent.fault.code} ${sent.fault.detail}` };
    }
    await dropOwnBatchLock(ctx, lease);
    return { kind: "fenced" };
  }
  return { kind: "refused", detail: "no free job numbers found" };
}

/** The op in the cursor decides; the status version tells whether the chunk may be sent again. */
async function chunkVerdict(
  ctx: QueueContext,
  { lease, expansionVersion }: LoadedBatch,
  op: string,
): Promise<"applied" | "not-applied" | "send-again" | "ask-again"> {
  const answers = await ctx.session.readMany([
    { get: paths.expansion(lease.id) },
    { get: paths.batchStatus(lease.id) },
  ]);
  if (!answers.ok) return "ask-again";
  const [cursor, status] = answers.value;
  if (cursor?.kind !== "node" || status?.kind !== "node") return "not-applied";
  const expansion = records.expansion.decode(cursor.node.data);
  if (expansion.ok && expansion.value.op === op) return "applied";
  const untouched = cursor.node.stat.version === expansionVersion && status.node.stat.version === lease.token;
  return untouched ? "send-again" : "not-applied";
}

function jobOps(
  ctx: QueueContext,
  actor: Actor,
  options: ExpanderOptions,
  batch: Batch,
  { id, row }: { readonly id: JobId | undefined; readonly row: number },
  spec: JobSpec,
): readonly Op[] {
  if (id === undefined) throw new RangeError("fewer job numbers than rows"); // nextJobs gives what it was asked for
  const nowMs = ctx.clock.nowMs();
  const { batchId, batchEpoch } = placeOfBatch(batch);
  return createJobOps({
    id,
    batch: batchId,
    priority: clampPriority(spec.priority),
    configuration: {
      ...spec.configuration,
      batch_id: batchId,
      epoch: printEpoch(batchEpoch),
      working_dir: options.workingDir({ id, batchId, batchEpoch }),
      jobID: nameOfRow(batch, options.identity.fleet, row, spec),
    },
    identifiers: spec.identifiers,
    metadata: spec.metadata,
    status: {
      status: "Pending",
      last_modified: formatTimestamp(nowMs),
      last_successful_status: null,
      retry_count: 0,
      message: "",
    },
    fleetJob: newFleetJob({ op: ctx.newId(), atMs: nowMs, kind: "create", state: "Pending", by: actor.worker }),
  });
}

/**
 * Why no more rows may become jobs just now; null when they may. Every job under way may end up in one and the same
 * directory: together with what rests there already they must stay below the bound.
 */
export async function queueIsFull(ctx: Pick<QueueContext, "session">): Promise<string | null> {
  const answers = await ctx.session.readMany(JOB_STATES.map((state) => ({ get: paths.queue(state) })));
  if (!answers.ok) return `${answers.code} ${answers.detail}`;
  const depth = answers.value.map((answer) => (answer.kind === "node" ? answer.node.stat.numChildren : 0));
  const depths = (live: boolean): readonly number[] =>
    depth.filter((_, i) => isLive(JOB_STATES[i] ?? "Deleted") === live);
  const underWay = depths(true).reduce((a, b) => a + b, 0);
  const resting = depths(false).reduce((a, b) => Math.max(a, b), 0);
  if (underWay + resting + CHUNK_ROWS <= QUEUE_ENTRIES_MAX) return null;
  return `${underWay} jobs are under way and ${resting} rest in one state; ${QUEUE_ENTRIES_MAX} is the bound`;
}
