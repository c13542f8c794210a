/** A tree as deep as they come: many batches of a few collections, their jobs in every state. */
import {
  type BatchId,
  batchUuidFromRandom,
  CHUNK_ROWS,
  createBatch,
  createJobOps,
  type ErrorCode,
  failureMessage,
  formatTimestamp,
  type IdBlocks,
  type JobId,
  type JobState,
  jobUuid,
  makeBatchStore,
  makeIdBlocks,
  newFleetJob,
  paths,
  type QueueContext,
  type RecordType,
  records,
  type Submission,
} from "@sluice/queue-core";
import type { Op } from "@sluice/zookeeper";
import { randomBytes } from "node:crypto";

export const COLLECTIONS = ["river_maps", "river_letters", "harbour_logs", "lock_drawings"] as const;
export const SUBMITTERS = ["keeper", "archivist"] as const;
export const FAILURES = ["DOWNLOAD_FAILED", "STORE_FAILED", "RECORD_FAILED"] as const satisfies readonly ErrorCode[];

/** Of ten jobs, one each: a tenth has failed. */
const STATES: readonly JobState[] = [
  "Failed",
  "Completed",
  "Completed",
  "Completed",
  "Pending",
  "Pending",
  "Estimating",
  "Provisioning",
  "Downloading",
  "Held",
];
const BATCH_ROWS = 250;
const BATCHES_AT_ONCE = 8;
const ACTOR = { stage: "batch-intake", worker: "bench" };
const FLEET = "bench";

export interface BigTree {
  readonly jobs: number;
  readonly failed: number;
  readonly batch: BatchId;
  readonly job: JobId;
}

/** Jobs are made in the state that they are in: to take each of them through the stages would take hours. */
export async function growTree(ctx: QueueContext, jobs: number): Promise<BigTree> {
  const ids = makeIdBlocks(ctx);
  const starts = Array.from({ length: Math.ceil(jobs / BATCH_ROWS) }, (_, i) => i * BATCH_ROWS);
  const grown: Pick<BigTree, "batch" | "job">[] = [];
  const grow = async (): Promise<void> => {
    for (let start = starts.shift(); start !== undefined; start = starts.shift()) {
      grown.push(await growBatch(ctx, ids, start, Math.min(BATCH_ROWS, jobs - start)));
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, grow));
  const last = grown.at(-1);
  if (last === undefined) throw new Error("no jobs, no tree");
  return { jobs, failed: Math.ceil(jobs / STATES.length), ...last };
}

async function growBatch(ctx: QueueContext, ids: IdBlocks, start: number, rows: number) {
  const submission = submissionOf(start / BATCH_ROWS);
  const batch = await openBatch(ctx, ids, submission, rows);
  const numbers = await ids.nextJobs(rows);
  const first = numbers?.[0];
  if (numbers === null || first === undefined) throw new Error("no numbers for jobs");
  for (let i = 0; i < rows; i += CHUNK_ROWS) {
    const chunk = numbers.slice(i, i + CHUNK_ROWS);
    await write(ctx, [
      ...chunk.flatMap((id, k) => jobOps(id, batch, submission, start + i + k)),
      { op: "set", path: paths.expansion(batch), data: cursorAt(rows, i + chunk.length), version: i / CHUNK_ROWS },
    ]);
  }
  return { batch, job: first };
}

const cursorAt = (rows: number, created: number): Buffer =>
  records.expansion.encode({ rows, created, digest: "", reports: 0, op: "" });

async function openBatch(ctx: QueueContext, ids: IdBlocks, submission: Submission, rows: number): Promise<BatchId> {
  const made = await createBatch(ctx, ids, { uuid: batchUuidFromRandom(randomBytes(16)), submission, epoch: 1 });
  if (made.kind !== "created") throw new Error(made.kind);
  const store = makeBatchStore(ctx, ACTOR);
  const claimed = await store.claim("Pending", made.id);
  if (claimed.kind !== "acquired") throw new Error(claimed.kind);
  await store.settle(claimed.loaded, { kind: "start", rows, digest: "" });
  return made.id;
}

async function write(ctx: QueueContext, ops: readonly Op[]): Promise<void> {
  const answer = await ctx.session.multi(ops);
  if (!answer.ok) throw new Error(`${answer.code} ${answer.detail}`);
}

const pick = <T>(from: readonly [T, ...T[]], i: number): T => from[i % from.length] ?? from[0];

/** The record has more fields than anybody fills in. */
const filled = <T>(record: RecordType<T>, given: object): T => {
  const read = record.decode(Buffer.from(JSON.stringify(given)));
  if (!read.ok) throw new Error(read.problem);
  return read.value;
};

const submissionOf = (i: number): Submission =>
  filled(records.submission, {
    profile_name: pick(COLLECTIONS, i),
    submitter: pick(SUBMITTERS, i),
    payload_url: `http://127.0.0.1/manifests/${i}.checkm`,
    type: "single-file-batch-manifest",
    submission_mode: "add",
    erc_what: `Delivery ${i}`,
  });

function jobOps(id: JobId, batch: BatchId, { profile_name, submitter }: Submission, i: number): readonly Op[] {
  const state = STATES[i % STATES.length] ?? "Pending";
  const name = `sheet-${String(i).padStart(6, "0")}.tif`;
  const nowMs = Date.now();
  return createJobOps({
    id,
    batch,
    priority: [2, 5, 5, 5, 8][Math.floor(i / STATES.length) % 5] ?? 5,
    configuration: filled(records.jobConfiguration, {
      batch_id: batch,
      profile_name,
      submitter,
      payload_url: `http://127.0.0.1/content/${name}`,
      payload_name: name,
      payload_type: "file",
      submission_mode: "add",
      jobID: jobUuid(id, FLEET),
    }),
    identifiers: { primary_id: null, local_id: [`sheet:${i}`] },
    metadata: filled(records.metadata, { erc_what: `Sheet ${i}`, erc_who: "The keeper", erc_when: "1911" }),
    status: {
      status: state,
      last_modified: formatTimestamp(nowMs),
      last_successful_status: state === "Failed" ? "Provisioning" : null,
      retry_count: 0,
      message: state === "Failed" ? failureMessage(pick(FAILURES, Math.floor(i / STATES.length)), name) : "",
    },
    fleetJob: newFleetJob({ op: String(i), atMs: nowMs, kind: "create", state, by: ACTOR.worker }),
  });
}
