/** Processing batches with rows left: each row becomes a job, from exactly the row at which the cursor stands. */
import { manifestRows } from "@sluice/ingest-formats";
import {
  type Batch,
  CHUNK_ROWS,
  type ExpandResult,
  type Expansion,
  jobOfRow,
  type JobSpec,
  placeOfBatch,
} from "@sluice/queue-core";
import { type BatchContext, type BatchOutcome, type BatchStage, retry, snooze } from "@sluice/stage-runtime";
import type { Payloads, ProfileOf } from "../ports.ts";
import type { Quotas } from "../quota/quotas.ts";
import { type BatchFacts, specOfPayload, specOfRow, specOfUpload } from "./job-spec.ts";
import { frozenRowsOf, isBesideOf, payloadOfBatch } from "./payload-of-batch.ts";
import { outcomeOfFault } from "./outcome-of-fault.ts";

export interface ExpandBatchPorts {
  readonly payloads: Payloads;
  readonly profileOf: ProfileOf;
  /** The collection's share of the queue. */
  readonly quotas: Pick<Quotas, "expansionMustWait" | "add">;
}

/** How long an expansion that must wait stays away. */
const WAIT_MS = 2_000;

const RELEASE: BatchOutcome = { kind: "release" };

export function expandBatchStage(ports: ExpandBatchPorts): BatchStage {
  return {
    kind: "batch-stage",
    takes: "Processing",
    wants: ({ expansion }) => expansion !== null && expansion.created < expansion.rows,
    mustWait: (profile) => ports.quotas.expansionMustWait(profile),
    handle: (batch, ctx) => expandBatch(ports, batch, ctx),
  };
}

async function expandBatch(ports: ExpandBatchPorts, batch: Batch, ctx: BatchContext): Promise<BatchOutcome> {
  const { expansion, submission } = batch;
  if (expansion === null || expansion.created >= expansion.rows) return RELEASE;
  const profile = ports.profileOf(submission.profile_name);
  const facts: BatchFacts = {
    submission,
    rows: expansion.rows,
    // A profile that went away meanwhile takes its override along; its jobs go on.
    priority: profile.ok ? profile.profile.priority : undefined,
    resource: profile.ok ? profile.profile.resourceToProvision : undefined,
  };
  const specs = await specsOf(ports, batch, expansion, facts, ctx.signal);
  return "kind" in specs ? specs : addAll(specs.chunks, ctx, ports.quotas, submission.profile_name);
}

interface Specs {
  readonly chunks: AsyncIterable<readonly JobSpec[]>;
}

function specsOf(
  { payloads }: ExpandBatchPorts,
  batch: Batch,
  expansion: Expansion,
  facts: BatchFacts,
  signal: AbortSignal,
): Promise<Specs | BatchOutcome> {
  return expansion.digest === ""
    ? specsOfPayload(payloads, batch, expansion, facts, signal)
    : specsOfRows(payloads, batch, expansion, facts, signal);
}

async function specsOfPayload(
  payloads: Payloads,
  batch: Batch,
  { created }: Expansion,
  facts: BatchFacts,
  signal: AbortSignal,
): Promise<Specs | BatchOutcome> {
  const payload = await payloadOfBatch(batch, payloads, signal);
  if (!payload.ok) return outcomeOfFault(payload);
  if (payload.kind === "single") return { chunks: chunked([payload.job], (job) => specOfPayload(facts, job)) };
  if (payload.kind === "uploads")
    return { chunks: chunked(payload.uploads.slice(created), (upload) => specOfUpload(facts, upload)) };
  const message = "the payload has become a batch manifest since it was looked at";
  return { kind: "fail", code: "MANIFEST_CORRUPT", message };
}

/** From here on only the frozen manifest counts: what is at its URL now is of no interest. */
async function specsOfRows(
  payloads: Payloads,
  batch: Batch,
  expansion: Expansion,
  facts: BatchFacts,
  signal: AbortSignal,
): Promise<Specs | BatchOutcome> {
  const frozen = await payloads.frozenManifest(placeOfBatch(batch), expansion.digest, signal);
  // Rows may have become jobs: the batch cannot fail any more, people must bring the manifest back.
  if (!frozen.ok) return retry(frozen.code, frozen.message);
  const frozenRows = await frozenRowsOf(batch.submission.type, payloads.read(frozen.path));
  if (frozenRows === undefined) {
    return retry("UNEXPECTED", `${frozen.path} is no batch manifest of a type that is taken`);
  }
  const { job, kind } = frozenRows;
  // A manifest without a header is what the submission says it is, here as when it was validated.
  const rows = manifestRows(payloads.read(frozen.path), {
    kind,
    fromRow: expansion.created + 1,
    isBeside: isBesideOf(batch.submission),
  });
  return { chunks: chunked(rows, (row) => specOfRow(facts, row, job)) };
}

async function addAll(
  chunks: AsyncIterable<readonly JobSpec[]>,
  ctx: BatchContext,
  quotas: ExpandBatchPorts["quotas"],
  profile: string,
): Promise<BatchOutcome> {
  let { loaded } = ctx;
  const before = loaded.batch.expansion?.created ?? 0;
  try {
    for await (const specs of chunks) {
      if (ctx.signal.aborted) return RELEASE;
      const why = (await ctx.expansionMustWait()) ?? (await quotas.expansionMustWait(profile));
      if (why !== null) return snooze(WAIT_MS, why);
      await ctx.failpoint("beforeEffect");
      const added: ExpandResult = await ctx.addJobs(loaded, specs);
      if (added.kind === "refused") return retry("UNEXPECTED", added.detail);
      if (added.kind !== "added") return RELEASE; // no longer ours: whoever has it goes on at the cursor
      loaded = added.loaded;
      quotas.add(profile, { queued: specs.length });
      await ctx.failpoint("midEffect");
    }
    return endedEarly(loaded.batch.expansion) ?? RELEASE;
  } finally {
    logMade(ctx, before, loaded.batch.expansion);
  }
}

/** Which jobs a batch became: one line for each time that somebody worked on it. */
function logMade({ log }: Pick<BatchContext, "log">, before: number, expansion: Expansion | null): void {
  if (expansion === null || expansion.created === before) return;
  const { created, rows } = expansion;
  const [first_job, last_job] = [jobOfRow(expansion, before + 1), jobOfRow(expansion, created)];
  log.info({ first_row: before + 1, last_row: created, of: rows, first_job, last_job }, "rows became jobs");
}

/** A release says "go on at the cursor", at once: where no row is left to go on with, that would never end. */
function endedEarly(expansion: Expansion | null): BatchOutcome | null {
  if (expansion === null || expansion.created >= expansion.rows) return null;
  return retry("UNEXPECTED", `the payload ended after row ${expansion.created} of ${expansion.rows}`);
}

/** Larger transactions make everybody else wait, and ZooKeeper takes none above a megabyte. */
const CHUNK_BYTES = 100 * 1024;

async function* chunked<T>(
  items: AsyncIterable<T> | Iterable<T>,
  map: (item: T) => JobSpec,
): AsyncGenerator<JobSpec[]> {
  let chunk: JobSpec[] = [];
  let bytes = 0;
  for await (const item of items) {
    const spec = map(item);
    const size = Buffer.byteLength(JSON.stringify(spec));
    if (chunk.length === CHUNK_ROWS || (chunk.length > 0 && bytes + size > CHUNK_BYTES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(spec);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}
