/** Batches that stand in the tree and in none of our records: who made them, and how far they are. */
import type { EachAnswer, Read, Session } from "@sluice/zookeeper";
import { type Beside, isMadeBeside } from "./beside.ts";
import { type BatchId, parseBatchId } from "./ids.ts";
import { nodeOf, readable } from "./nodes.ts";
import { paths } from "./paths.ts";
import { records } from "./records.ts";
import { BATCH_STATES, type BatchState, BUCKETS } from "./states.ts";

export interface UnknownBatch {
  readonly id: BatchId;
  /** null: a node is missing, or cannot be read. */
  readonly whole: {
    readonly state: BatchState;
    readonly statusVersion: number;
    readonly submission: Buffer;
    readonly submissionVersion: number;
  } | null;
  readonly isLocked: boolean;
  /** Of its directories for jobs, parents first. */
  readonly missing: readonly string[];
  /** Under which states our index has it. */
  readonly entries: readonly { readonly state: BatchState; readonly version: number }[];
}

const PER_READ = 50;

/** Those of the program beside us; what is older is Merritt's own and waits for an import. null = no answer. */
export async function unknownBatches(session: Session, beside: Beside): Promise<readonly UnknownBatch[] | null> {
  const listed = await listedBatches(session);
  const all = await session.children(paths.batches);
  if (listed === null || !all.ok) return null;
  const ids = all.value.names.flatMap((name) => parseBatchId(name) ?? []).filter((id) => !listed.has(id));
  const found: UnknownBatch[] = [];
  for (let i = 0; i < ids.length; i += PER_READ) {
    const page = await readPage(session, beside, ids.slice(i, i + PER_READ));
    if (page === null) return null;
    for (const each of page) found.push(each);
  }
  return found;
}

/** What our index has, but for what is not started: whoever else starts such a batch does not tell the index. */
async function listedBatches(session: Session): Promise<ReadonlySet<string> | null> {
  const states = BATCH_STATES.filter((state) => state !== "Pending" && state !== "Held");
  const answers = await session.readMany(states.map((state) => ({ children: paths.fleetBatchQueue(state) })));
  if (!answers.ok) return null;
  return new Set(answers.value.flatMap((answer) => (answer.kind === "children" ? answer.names : [])));
}

const INDEX = BATCH_STATES.map((state) => (id: BatchId) => paths.fleetBatch(state, id));
const FRAME = [paths.batchStates, ...BUCKETS.map((bucket) => (id: BatchId) => paths.bucket(id, bucket))];
const OWN = [paths.batch, paths.expansion, paths.batchStatus, paths.batchSubmission, paths.batchLock];
const NODES = [...OWN, ...FRAME, ...INDEX];

async function readPage(
  session: Session,
  beside: Beside,
  ids: readonly BatchId[],
): Promise<readonly UnknownBatch[] | null> {
  const answers = await session.readEach(ids.flatMap((id) => NODES.map((path): Read => ({ get: path(id) }))));
  if (!answers.ok) return null;
  return ids.flatMap((id, i) => unknownOf(id, answers.value.slice(i * NODES.length, (i + 1) * NODES.length), beside));
}

/** None: it is ours, Merritt's own, or gone. */
function unknownOf(id: BatchId, answers: readonly EachAnswer[], beside: Beside): readonly UnknownBatch[] {
  const nodes = answers.map(nodeOf);
  const [batch, expansion, statusNode, submissionNode, lock] = nodes;
  if (!batch || expansion || !isMadeBeside(beside, batch.stat)) return [];
  const status = readable(records.batchStatus, statusNode);
  const submission = readable(records.submission, submissionNode);
  const frame = nodes.slice(OWN.length, OWN.length + FRAME.length);
  const index = nodes.slice(OWN.length + FRAME.length);
  const entries = BATCH_STATES.flatMap((state, i) => {
    const entry = index[i];
    return entry ? [{ state, version: entry.stat.version }] : [];
  });
  // Listed under its own state, and not begun: as we left it, whoever made it.
  if (entries.length === 1 && entries[0]?.state === status?.status) return [];
  const whole =
    statusNode && submissionNode && status && submission
      ? {
          state: status.status,
          statusVersion: statusNode.stat.version,
          submission: submissionNode.data,
          submissionVersion: submissionNode.stat.version,
        }
      : null;
  return [
    {
      id,
      whole,
      isLocked: !!lock,
      missing: FRAME.filter((_, i) => !frame[i]).map((path) => path(id)),
      entries,
    },
  ];
}
