/**
 * One record of the journal becomes a batch. Everything here may be done again: the UUID makes the batch once, the number
 * is written down before anything moves to it, a refusal is written down before anything is set aside.
 */
import { type BatchId, batchId, type BatchPlace, FIRST_EPOCH, formatTimestamp } from "@sluice/queue-core";
import type { IoFault, Outcome } from "@sluice/safe-io";
import type { Failpoint } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import type { KeptUploads } from "../files/kept-uploads.ts";
import type { IntakeQueue } from "../intake-queue.ts";
import type { QueueReader } from "../queue-reader.ts";
import { PLACES_TRIED } from "../submission/accept.ts";
import type { Journaled } from "./entry.ts";
import type { InHand, NumberNote } from "./in-hand.ts";
import type { RefusedArea } from "./refused.ts";

export interface IngestPorts {
  readonly queue: IntakeQueue;
  readonly reader: Pick<QueueReader, "batchOf">;
  readonly uploads: KeptUploads;
  readonly inHand: InHand;
  readonly refused: RefusedArea;
  readonly removeBatchFolder: (batch: BatchPlace) => Promise<void>;
  readonly clock: Clock;
  readonly failpoint: Failpoint;
}

export type Ingested =
  | { readonly kind: "ingested"; readonly batch: BatchId; readonly replayed: boolean }
  | { readonly kind: "refused"; readonly why: string }
  /** The queue does not answer. */
  | { readonly kind: "later" }
  /** Something went wrong that may go right another time; `passing`: with the disk, and not with this submission. */
  | { readonly kind: "again"; readonly why: string; readonly passing: boolean };

/** Where the uploads are now; `batch` is null for a submission without any. */
type Placed = { readonly kind: "placed"; readonly batch: BatchPlace | null } | Ingested;

export async function ingest(ports: IngestPorts, number: number, entry: Journaled): Promise<Ingested> {
  const refusal = ports.refused.of(number);
  if (refusal !== null) return refuse(ports, number, entry, refusal.why);
  const placed = await place(ports, number, entry);
  if (placed.kind === "refused") return refuse(ports, number, entry, placed.why);
  return placed.kind === "placed" ? create(ports, number, entry, placed.batch) : placed;
}

async function place(ports: IngestPorts, number: number, { uuid, upload }: Journaled): Promise<Placed> {
  if (upload === null) return { kind: "placed", batch: null };
  const fleet = ports.queue.fleet();
  if (fleet === null) return { kind: "later" };
  if (upload.kind === "numbered")
    return upload.fleet === fleet ? { kind: "placed", batch: placeOf(upload) } : ofAnotherTree(upload.batch);
  const noted = ports.inHand.of(number);
  if (noted !== null && noted.fleet !== fleet) {
    const kept = await ports.uploads.isKept(upload.folder);
    if (!kept.ok) return again(kept.error);
    if (!kept.value) return ofAnotherTree(noted.batch);
  }
  const first = noted?.fleet === fleet ? placeOf(noted) : await takeNumber(ports, number);
  const moved = await moveTo(ports, number, upload.folder, first);
  if (moved === null) return { kind: "later" };
  if (moved.ok) return { kind: "placed", batch: moved.value };
  if (moved.error.code !== "NOT_FOUND") return again(moved.error);
  // Gone because an earlier try found the batch there already, and had no use for them?
  const there = await ports.reader.batchOf(uuid);
  if (there.kind === "found" && first !== null) await ports.uploads.needNoMore(first);
  if (there.kind === "found") return { kind: "ingested", batch: there.value, replayed: true };
  return there.kind === "silence" ? { kind: "later" } : { kind: "refused", why: "its uploads are gone" };
}

/** To the first number under which nobody has left a folder. Null: ZooKeeper does not answer. */
async function moveTo(
  ports: IngestPorts,
  number: number,
  folder: string,
  first: BatchPlace | null,
): Promise<Outcome<BatchPlace> | null> {
  let place = first;
  for (let tries = 0; place !== null; tries += 1) {
    const needed = await ports.uploads.need(place);
    if (!needed.ok) return needed;
    await ports.failpoint("ingestBeforeMove");
    const moved = await ports.uploads.becomeBatch(folder, place);
    await ports.failpoint("ingestAfterMove");
    if (moved.ok) return { ok: true, value: place };
    if (moved.error.code !== "ALREADY_THERE" || tries >= PLACES_TRIED) return moved;
    await ports.uploads.needNoMore(place);
    place = await takeNumber(ports, number);
  }
  return null;
}

const again = ({ message, retryable }: IoFault): Ingested => ({ kind: "again", why: message, passing: retryable });

const ofAnotherTree = (batch: BatchId): Ingested => ({
  kind: "refused",
  why: `its uploads were moved to ${batch}, which is a number of another tree`,
});

const placeOf = ({ batch, epoch }: Pick<NumberNote, "batch" | "epoch">): BatchPlace => ({
  batchId: batch,
  batchEpoch: epoch,
});

/** No record has this number. */
const NOBODYS: NumberNote = { number: 0, batch: batchId(0), epoch: FIRST_EPOCH, fleet: "" };

async function takeNumber({ queue, inHand }: IngestPorts, number: number): Promise<BatchPlace | null> {
  const place = await queue.reserve();
  if (place !== null) await inHand.set({ number, batch: place.batchId, epoch: place.batchEpoch, fleet: place.fleet });
  return place;
}

async function create(
  ports: IngestPorts,
  number: number,
  entry: Journaled,
  place: BatchPlace | null,
): Promise<Ingested> {
  const { uuid, submission, upload } = entry;
  const created = await ports.queue.create({ uuid, submission, ...(place === null ? {} : { place }) });
  await ports.failpoint("ingestAfterCreate");
  switch (created.kind) {
    case "created":
    case "replayed":
      // It had been made before, with files of its own: these are the same once more.
      if (place !== null && created.id !== place.batchId) await ports.removeBatchFolder(place);
      if (place !== null) await ports.uploads.needNoMore(place);
      return { kind: "ingested", batch: created.id, replayed: created.kind === "replayed" };
    case "conflict":
      return refuse(ports, number, entry, `${created.id} was submitted under the same key with other content`);
    case "lost":
      return { kind: "later" };
    case "refused": {
      // Perhaps somebody else numbers in this tree: the next try takes another number.
      if (upload?.kind === "kept" && place !== null) {
        const back = await ports.uploads.putBack(upload.folder, place);
        if (back.ok) await ports.inHand.set(NOBODYS);
        if (back.ok) await ports.uploads.needNoMore(place);
      }
      return { kind: "again", why: created.detail, passing: false };
    }
  }
}

/** Never dropped: what was asked for and why it cannot be stays on disk, with its files. */
export async function refuse(ports: IngestPorts, number: number, entry: Journaled, why: string): Promise<Ingested> {
  const { uuid, submission, upload } = entry;
  const name = `${number}-${uuid}`;
  const files = upload === null ? null : `.refused/${name}`;
  const refused_at = formatTimestamp(ports.clock.nowMs());
  await ports.refused.add({ uuid, number, refused_at, why, submission, files });
  await ports.failpoint("ingestAfterRefuse");
  for (const from of placesOf(ports, number, entry)) {
    const aside = await ports.uploads.setAside(from, name);
    if (!aside.ok) return again(aside.error);
  }
  const numbered = entry.upload?.kind === "numbered" ? entry.upload : ports.inHand.of(number);
  if (numbered !== null) await ports.uploads.needNoMore(placeOf(numbered));
  return { kind: "refused", why };
}

/** Of a number of another tree we know nothing: what is there stays. */
function placesOf({ queue, inHand }: IngestPorts, number: number, { upload }: Journaled) {
  if (upload === null) return [];
  const fleet = queue.fleet();
  if (upload.kind === "numbered") return upload.fleet === fleet ? [{ batch: placeOf(upload) }] : [];
  const noted = inHand.of(number);
  const numbered = noted !== null && noted.fleet === fleet ? [{ batch: placeOf(noted) }] : [];
  return [{ folder: upload.folder }, ...numbered];
}
