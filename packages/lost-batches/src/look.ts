/** Gathers what is known outside the tree of batches that the tree does not know. Nothing is changed. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type BatchId,
  batchFolder,
  type BatchPlace,
  type BatchUuid,
  findKeptKey,
  parseBatchId,
  parseBatchUuid,
  parseBatchFolder,
  paths,
  readIdentity,
  records,
} from "@sluice/queue-core";
import {
  type AcceptedBatch,
  type BatchFolder,
  listAccepted,
  listBatchFolders,
  mailMarkFile,
  MANIFEST_FILE,
  openAcceptedBatches,
  parseMailMark,
} from "@sluice/working-folder";
import type { ReadAnswer, Session } from "@sluice/zookeeper";
import { foreignPart } from "./whose.ts";
import type { LostInventory } from "./inventory-part.ts";
import { type Evidence, type Judgement, judge, type TreeSays } from "./judge.ts";

export interface LookPorts {
  readonly session: Session;
  readonly workingDir: string;
  /** null: it is not asked. */
  readonly inventory: Omit<LostInventory, "close"> | null;
  /** When the snapshot was taken, as RFC 3339: what was recorded since and is nowhere else is told too. */
  readonly since?: string;
}

export interface LostBatch {
  readonly evidence: Evidence;
  readonly judgement: Judgement;
}

export type Looked =
  | { readonly ok: true; readonly lost: readonly LostBatch[]; readonly fleet: string; readonly epoch: number }
  | { readonly ok: false; readonly why: string };

/** A look that could not be finished: half an answer would say that the rest is well. */
class NotLooked extends Error {}

export async function lookForLost(ports: LookPorts): Promise<Looked> {
  try {
    const identity = await readIdentity(ports);
    if (!identity.ok) return { ok: false, why: identity.problem };
    const foreign = await foreignPart(identity.identity.fleet, ports);
    if (foreign !== null) return { ok: false, why: foreign };
    const { found, bad } = await candidates(ports, identity.identity.epoch);
    const evidence: Evidence[] = [...bad];
    for (const candidate of found) {
      const one = await evidenceOf(ports, candidate);
      if (one !== null) evidence.push(one);
    }
    for (const each of await onlyRecorded(ports, found)) evidence.push(each);
    const lost = evidence.map((each) => ({ evidence: each, judgement: judge(each) }));
    const { fleet, epoch } = identity.identity;
    return { ok: true, fleet, epoch, lost };
  } catch (error) {
    if (error instanceof NotLooked) return { ok: false, why: error.message };
    throw error;
  }
}

interface Candidates {
  readonly found: readonly Candidate[];
  /** Records that cannot be read. */
  readonly bad: readonly Evidence[];
}

interface Candidate {
  readonly place: BatchPlace;
  readonly accepted: AcceptedBatch | null;
  readonly folder: BatchFolder | null;
}

/** Records and folders of earlier epochs, whether the tree has the batch or not; in the order in which they were accepted. */
async function candidates({ workingDir }: LookPorts, epoch: number): Promise<Candidates> {
  const uuids = await listAccepted(workingDir);
  const folders = uuids === null ? null : await listBatchFolders(workingDir);
  if (uuids === null || folders === null) throw new NotLooked(`the working folder ${workingDir} cannot be read`);
  const byFolder = new Map(folders.map((folder) => [folder.name, folder]));
  const found: Candidate[] = [];
  const bad: Evidence[] = [];
  const records = await openAcceptedBatches(workingDir);
  for (const uuid of uuids) {
    const read = await records.read(uuid);
    if (read.kind === "unreadable") bad.push({ ...NOTHING, batch: uuid, badRecord: read.why });
    if (read.kind !== "found") continue;
    const { place } = read.accepted;
    const name = batchFolder(place);
    found.push({ place, accepted: read.accepted, folder: byFolder.get(name) ?? null });
    byFolder.delete(name);
  }
  for (const folder of byFolder.values()) {
    const place = parseBatchFolder(folder.name);
    // A journal that needs it makes its batch, and knows what was accepted.
    if (place !== null && !folder.journaled) found.push({ place, accepted: null, folder });
  }
  const earlier = found.filter(({ place }) => place.batchEpoch < epoch);
  return { found: earlier.sort((a, b) => inOrder(a.place, b.place)), bad };
}

const inOrder = (a: BatchPlace, b: BatchPlace): number =>
  a.batchEpoch - b.batchEpoch || (a.batchId < b.batchId ? -1 : 1);

/** Null: the tree has it. */
async function evidenceOf(ports: LookPorts, candidate: Candidate): Promise<Evidence | null> {
  const { place, accepted, folder } = candidate;
  const tree = await treeSays(ports.session, candidate);
  if (tree === "there") return null;
  const inFolder = await filesOf(folder?.path ?? null);
  const known = accepted === null ? null : { uuid: accepted.uuid, submission: accepted.submission };
  const archived = await askArchive(ports, accepted?.uuid ?? null);
  const recorded = await ports.inventory?.recordedOf(place.batchId);
  return {
    ...{ place, badRecord: null, tree, ...inFolder },
    batch: place.batchId,
    accepted: known,
    folder: folder?.path ?? null,
    isArchived: archived,
    recorded: recorded === undefined ? null : valueOf(recorded, 0),
  };
}

async function treeSays(
  session: Session,
  { place, accepted }: Pick<Candidate, "place" | "accepted">,
): Promise<TreeSays | "there"> {
  const submission = await session.get(paths.batchSubmission(place.batchId));
  if (!submission.ok && submission.code !== "NO_NODE") throw new NotLooked(`ZooKeeper: ${submission.code}`);
  const said = submission.ok ? records.submission.decode(submission.value.data) : null;
  const uuid = said?.ok === true ? parseBatchUuid(said.value.batchID ?? "") : null;
  // Without a record there is nothing to compare but the number: its folder may well be this batch's.
  if (submission.ok && (accepted === null || uuid === accepted.uuid)) return "there";
  const again = accepted === null ? null : await underName(session, accepted.uuid);
  if (again !== null) return { kind: "came-again", batch: again };
  return submission.ok ? { kind: "number-taken" } : { kind: "unknown" };
}

/** A batch of this name, in the queue or cleaned up. */
async function underName(session: Session, uuid: BatchUuid): Promise<BatchId | null> {
  const node = await session.get(paths.batchUuid(uuid));
  if (!node.ok && node.code !== "NO_NODE") throw new NotLooked(`ZooKeeper: ${node.code}`);
  const bid = node.ok ? records.bid.decode(node.value.data) : null;
  if (bid?.ok === true) return bid.value;
  const kept = await findKeptKey({ session }, uuid);
  if (kept.kind === "silence") throw new NotLooked("ZooKeeper does not answer");
  return kept.kind === "found" ? parseBatchId(kept.record.batch) : null;
}

async function filesOf(folder: string | null): Promise<Pick<Evidence, "uploads" | "isStarted" | "told">> {
  if (folder === null) return { uploads: [], isStarted: false, told: null };
  const [uploads, names] = [await namesIn(join(folder, "uploads")), await namesIn(folder)];
  return { uploads, isStarted: names.includes(MANIFEST_FILE), told: await subjectOf(folder, names) };
}

/** 1 is the first report, 0 that of a batch which never became jobs. */
const REPORTS = [1, 0].map(mailMarkFile);

async function subjectOf(folder: string, names: readonly string[]): Promise<string | null> {
  const mark = REPORTS.find((name) => names.includes(name));
  return mark === undefined ? null : (parseMailMark(await readFile(join(folder, mark), "utf8"))?.subject ?? mark);
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (typeof error === "object" && error !== null && "code" in error && error.code === "ENOENT") return [];
    throw new NotLooked(`${folder} cannot be read: ${String(error)}`);
  }
}

async function askArchive({ inventory }: LookPorts, uuid: BatchUuid | null): Promise<boolean> {
  if (inventory === null || uuid === null) return false;
  return valueOf(await inventory.findArchivedBatch(uuid), null) !== null;
}

type Answer<T> =
  | { readonly kind: "found"; readonly value: T }
  | { readonly kind: "none" }
  | { readonly kind: "unavailable"; readonly message: string };

function valueOf<T, N>(answer: Answer<T>, none: N): T | N {
  if (answer.kind === "unavailable") throw new NotLooked(`the inventory: ${answer.message}`);
  return answer.kind === "found" ? answer.value : none;
}

const NUMBERS_PER_READ = 500;

/** Recorded since the snapshot, of batches that are in no tree, no archive and no folder: the working folder is lost, too. */
async function onlyRecorded(
  { inventory, since, session }: LookPorts,
  found: readonly Candidate[],
): Promise<readonly Evidence[]> {
  if (inventory === null || since === undefined) return [];
  const seen = new Set<string>(found.map(({ place }) => place.batchId));
  const batches = valueOf(await inventory.recordedSince(since), []).filter(({ batch }) => !seen.has(batch));
  const unknown: Evidence[] = [];
  for (let from = 0; from < batches.length; from += NUMBERS_PER_READ) {
    const some = batches.slice(from, from + NUMBERS_PER_READ);
    const answers = await statusesOf(
      session,
      some.map(({ batch }) => parseBatchId(batch)),
    );
    for (const [n, { batch, versions }] of some.entries()) {
      if (answers[n]?.kind === "node" || valueOf(await inventory.findArchivedBatch(batch), null) !== null) continue;
      unknown.push({ ...NOTHING, batch, recorded: versions });
    }
  }
  return unknown;
}

async function statusesOf(session: Session, ids: readonly (BatchId | null)[]): Promise<readonly (ReadAnswer | null)[]> {
  const known = ids.flatMap((id) => id ?? []);
  const answers =
    known.length === 0 ? null : await session.readMany(known.map((id) => ({ get: paths.batchStatus(id) })));
  if (answers?.ok === false) throw new NotLooked(`ZooKeeper: ${answers.code}`);
  const byId = new Map(known.map((id, n) => [id, answers?.value[n] ?? null]));
  return ids.map((id) => (id === null ? null : (byId.get(id) ?? null)));
}

const NOTHING: Omit<Evidence, "batch"> = {
  place: null,
  accepted: null,
  badRecord: null,
  folder: null,
  uploads: [],
  isStarted: false,
  told: null,
  tree: { kind: "unknown" },
  isArchived: false,
  recorded: null,
};
