/** The queue as submissions see it: over whatever session the process has just now, or none. */
import {
  type BatchPlace,
  type BatchUuid,
  createBatch,
  type CreateResult,
  type IdBlocks,
  makeIdBlocks,
  type QueueContext,
  type Submission,
} from "@sluice/queue-core";
import type { OpenQueue } from "@sluice/stage-runtime";
import type { AcceptedBatch } from "@sluice/working-folder";
import type { KeepAccepted } from "./files/accepted-records.ts";

export interface Reserved extends BatchPlace {
  /** The tree in which it was reserved. */
  readonly fleet: string;
}

export interface NewBatch {
  readonly uuid: BatchUuid;
  readonly submission: Submission;
  /** Where its uploads are; without any it gets its number when it is created. */
  readonly place?: BatchPlace;
}

export interface IntakeQueue {
  /** Which tree it is; null while there is no session. */
  fleet(): string | null;
  /** A number for a batch that needs a folder before it is created; null = ZooKeeper does not answer. */
  reserve(): Promise<Reserved | null>;
  /** When it answers that the batch is there, its record is beside the files, too. */
  create(request: NewBatch): Promise<CreateResult>;
}

/**
 * It was accepted in a history of the tree that a restore has cut off. Unless it is there, it is made under the number that it
 * had: what was done for its jobs is found under names that hold that number.
 */
async function again(
  before: AcceptedBatch,
  { request_digest: digest }: Submission,
  create: (place: BatchPlace | undefined) => Promise<CreateResult>,
  place: BatchPlace | undefined,
): Promise<CreateResult> {
  if (before.submission.request_digest !== digest) return { kind: "conflict", id: before.place.batchId };
  const made = await create(before.place);
  return made.kind === "refused" ? create(place) : made;
}

/** `current` answers with the queue of the present session; null while there is none. */
export function makeIntakeQueue(current: () => OpenQueue | null, keepAccepted: KeepAccepted): IntakeQueue {
  // Numbers that were reserved belong to their session: a new one reserves its own.
  const blocks = new WeakMap<QueueContext, IdBlocks>();
  const idsOf = (ctx: QueueContext): IdBlocks => {
    const known = blocks.get(ctx) ?? makeIdBlocks(ctx);
    blocks.set(ctx, known);
    return known;
  };
  const connected = (): OpenQueue | null => {
    const open = current();
    return open?.context.session.state === "connected" ? open : null;
  };
  return {
    fleet: () => current()?.identity.history ?? null,
    async reserve() {
      const open = connected();
      const batchId = open === null ? null : await idsOf(open.context).nextBatch();
      if (open === null || batchId === null) return null;
      return { batchId, batchEpoch: open.identity.epoch, fleet: open.identity.history };
    },
    async create({ uuid, submission, place }) {
      const open = connected();
      if (open === null) return { kind: "lost" };
      const create = async (named: BatchPlace | undefined): Promise<CreateResult> => {
        const epoch = named?.batchEpoch ?? open.identity.epoch;
        const id = named === undefined ? {} : { id: named.batchId };
        const created = await createBatch(open.context, idsOf(open.context), { uuid, submission, epoch, ...id });
        if (created.kind === "created")
          await keepAccepted.now({ uuid, place: { batchId: created.id, batchEpoch: epoch }, submission });
        // Whoever created it may have died before it could write the record.
        if (created.kind === "replayed") await keepAccepted.ifMissing(open.context.session, uuid);
        return created;
      };
      const before = await keepAccepted.before(uuid);
      if (before === null || before.place.batchEpoch === open.identity.epoch) return create(place);
      // Uploads that are lost are brought again under a number of their own.
      if (place !== undefined && !(await keepAccepted.hasUploads(before.place))) return create(place);
      return again(before, submission, create, place);
    },
  };
}
