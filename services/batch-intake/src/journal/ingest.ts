/**
 * One record of the journal becomes a batch. Everything here may be done again: the UUID makes the batch once, the number
 * is written down before anything moves to it, a refusal is written down before anything is set aside.
 */
import {
  type BatchId,
  batchId,
  type BatchPlace,
  type BatchUuid,
  FIRST_EPOCH,
  formatTimestamp,
} from "@sluice/queue-core";
import type { IoFault, Outcome } from "@sluice/safe-io";
import type { Failpoint } from "@sluice/stage-runtime";
import type { Clock } from "@sluice/zookeeper";
import type { KeptUploads } from "../files/kept-uploads.ts";
import type { IntakeQueue } from "../intake-queue.ts";
import type { QueueReader } from "../queue-reader.ts";
import { PLACES_TRIED } from "../submission/accept.ts";
import type { Journaled, JournaledUpload } from "./entry.ts";
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
  if (upload.kind === "numbered" && upload.fleet === fleet) return { kind: "placed", batch: placeOf(upload) };
  const noted = ports.inHand.of(number);
  const folder = keptFolder(uuid, upload);
  if (noted?.fleet !== fleet) {
    const carried = await carryOver(ports, { uuid, folder, former: formerPlaces(upload, noted) });
    if (carried !== null) return carried;
  }
  const first = noted?.fleet === fleet ? placeOf(noted) : await takeNumber(ports, number);
  const moved = await moveTo(ports, number, folder, first);
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

/** Where uploads wait for a number: those that had one in an earlier epoch of the tree go back to such a folder. */
export const keptFolder = (uuid: BatchUuid, upload: JournaledUpload): string =>
  upload.kind === "kept" ? upload.folder : `carried-${uuid}`;

/** Where they may be, under numbers that an earlier epoch of the tree gave; the latest first. */
const formerPlaces = (upload: JournaledUpload, noted: NumberNote | null): readonly BatchPlace[] => [
  ...(noted === null ? [] : [placeOf(noted)]),
  ...(upload.kind === "numbered" ? [placeOf(upload)] : []),
];

interface CarriedOver {
  readonly uuid: BatchUuid;
  readonly folder: string;
  readonly former: readonly BatchPlace[];
}

/**
 * The tree was restored since these uploads got a number. (The journal is stamped: it is the same fleet's.) If the snapshot had
 * the batch, they are its own. Otherwise it is made under the number that they had: it may have been made before, and what was
 * done for its jobs is found under names that hold that number. Null: they wait for one.
 */
async function carryOver(ports: IngestPorts, { uuid, folder, former }: CarriedOver): Promise<Placed | null> {
  if (former.length === 0) return null;
  const there = await ports.reader.batchOf(uuid);
  if (there.kind === "silence") return { kind: "later" };
  if (there.kind === "found") {
    for (const place of former) {
      if (place.batchId !== there.value) await ports.removeBatchFolder(place);
      await ports.uploads.needNoMore(place);
    }
    return { kind: "ingested", batch: there.value, replayed: true };
  }
  const kept = await ports.uploads.isKept(folder);
  if (!kept.ok) return again(kept.error);
  for (const place of kept.value ? [] : former) {
    const there = await ports.uploads.isAt(place);
    if (!there.ok) return again(there.error);
    if (there.value) return { kind: "placed", batch: place };
  }
  for (const place of former) await ports.uploads.needNoMore(place);
  return null;
}

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
      const isNoted = ports.inHand.of(number) !== null;
      const isFormer = upload?.kind === "numbered" && upload.fleet !== ports.queue.fleet();
      if (upload !== null && place !== null && (upload.kind === "kept" || isNoted || isFormer)) {
        const back = await ports.uploads.putBack(keptFolder(uuid, upload), place);
        await ports.failpoint("ingestAfterCarry");
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
  for (const place of upload === null ? [] : formerPlaces(upload, ports.inHand.of(number)))
    await ports.uploads.needNoMore(place);
  return { kind: "refused", why };
}

function placesOf({ inHand }: IngestPorts, number: number, { uuid, upload }: Journaled) {
  if (upload === null) return [];
  return [{ folder: keptFolder(uuid, upload) }, ...formerPlaces(upload, inHand.of(number)).map((batch) => ({ batch }))];
}
