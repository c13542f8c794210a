/** Creating a batch: whole, and once per UUID, whoever asks how often. */
import type { QueueContext } from "./context.ts";
import { createBatchOps } from "./batch-ops.ts";
import type { IdBlocks } from "./id-blocks.ts";
import { type BatchId, type BatchUuid, parseBatchId } from "./ids.ts";
import { findKeptKey } from "./kept-keys.ts";
import { paths } from "./paths.ts";
import { printEpoch } from "./places.ts";
import { type KeyRecord, records, type Submission } from "./records.ts";
import { sendFenced } from "./send.ts";
import { formatTimestamp } from "./timestamp.ts";

export type CreateResult =
  | { readonly kind: "created"; readonly id: BatchId }
  /** The same key and the same request came before: the same batch answers. */
  | { readonly kind: "replayed"; readonly id: BatchId }
  /** The same key came before with other content. */
  | { readonly kind: "conflict"; readonly id: BatchId }
  | { readonly kind: "lost" }
  | { readonly kind: "refused"; readonly detail: string };

export interface CreateRequest {
  readonly uuid: BatchUuid;
  readonly submission: Submission;
  /** When an upload needed a folder before there was a batch; else a number is taken from the block. */
  readonly id?: BatchId;
  /** The tree's: with the number it names the batch's folder. */
  readonly epoch: number;
}

const TRIES_MAX = 5;
/** Clean-up puts keys away in bursts; each may cost a creation another look. */
const LOOKS_MAX = 500;

export async function createBatch(ctx: QueueContext, ids: IdBlocks, request: CreateRequest): Promise<CreateResult> {
  for (let attempt = 0, looks = 0; attempt < TRIES_MAX && looks < LOOKS_MAX; attempt++, looks++) {
    const kept = await findKeptKey(ctx, request.uuid);
    if (kept.kind === "silence") return { kind: "lost" };
    if (kept.kind === "found") return keptAnswer(kept.record, request);
    const id = request.id ?? (await ids.nextBatch());
    if (id === null) return { kind: "lost" };
    const status = { status: "Pending", last_modified: formatTimestamp(ctx.clock.nowMs()), message: "" } as const;
    const submission: Submission = { ...request.submission, batchID: request.uuid, epoch: printEpoch(request.epoch) };
    const ops = createBatchOps({ id, uuid: request.uuid, submission, status });
    const sent = await sendFenced(ctx, { rank: "commit", shared: kept.guard, ops }, async () => {
      const node = await ctx.session.get(paths.batchUuid(request.uuid));
      if (!node.ok) return node.code === "NO_NODE" ? "send-again" : "ask-again";
      const bid = records.bid.decode(node.value.data);
      return bid.ok && bid.value === id ? "applied" : "not-applied";
    });
    if (sent.kind === "applied") return { kind: "created", id };
    if (sent.kind === "lost") return sent;
    const replay = await existing(ctx, request);
    if (replay !== null) return replay;
    if (sent.kind === "refused" && sent.fault.code === "BAD_VERSION") {
      attempt -= 1; // a key was put away meanwhile, and it may be ours: another look, not another try
      continue;
    }
    // Not the UUID but the number was taken: somebody else numbers in this tree.
    if (sent.kind === "refused" && sent.fault.code === "NODE_EXISTS" && request.id === undefined) {
      if (await ids.skipTaken()) continue;
      return { kind: "lost" };
    }
    return { kind: "refused", detail: sent.kind === "refused" ? `${sent.fault.code} ${sent.fault.detail}` : "gone" };
  }
  return { kind: "refused", detail: "it could not be created: numbers or keys kept changing" };
}

function keptAnswer(record: KeyRecord, request: CreateRequest): CreateResult {
  const id = parseBatchId(record.batch);
  if (id === null) return { kind: "refused", detail: `no batch id: ${record.batch}` };
  const same = record.request_digest === (request.submission.request_digest ?? "");
  return { kind: same ? "replayed" : "conflict", id };
}

async function existing(ctx: QueueContext, request: CreateRequest): Promise<CreateResult | null> {
  const node = await ctx.session.get(paths.batchUuid(request.uuid));
  if (!node.ok) return null;
  const bid = records.bid.decode(node.value.data);
  if (!bid.ok) return { kind: "refused", detail: bid.problem };
  const submission = await ctx.session.get(paths.batchSubmission(bid.value));
  const before = submission.ok ? records.submission.decode(submission.value.data) : null;
  const same = before?.ok === true && before.value.request_digest === request.submission.request_digest;
  return { kind: same ? "replayed" : "conflict", id: bid.value };
}

/** The batch behind a UUID; null when there is none. */
export async function findBatch(ctx: Pick<QueueContext, "session">, uuid: BatchUuid): Promise<BatchId | null> {
  const node = await ctx.session.get(paths.batchUuid(uuid));
  const bid = node.ok ? records.bid.decode(node.value.data) : null;
  return bid?.ok === true ? bid.value : null;
}
